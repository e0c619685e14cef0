import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limitCpuTime } from '../../src/clock/cpu-time-limit.ts';

let usedMs = 0;
let over = false;
const start = (limitMs: number) => limitCpuTime(limitMs, () => (over = true));
/** Time passes, of which the process has a share. */
const pass = (ms: number, share: number): boolean => {
  for (let at = 0; at < ms; at += 10) {
    usedMs += 10 * share;
    vi.advanceTimersByTime(10);
  }
  return over;
};

beforeEach(() => {
  over = false;
  vi.useFakeTimers();
  vi.spyOn(process, 'cpuUsage').mockImplementation((before) => ({
    user: usedMs * 900 - (before?.user ?? 0),
    system: usedMs * 100 - (before?.system ?? 0),
  }));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it.each([
  { name: 'a processor of its own', share: 1, notYet: 900, then: 120 },
  { name: 'a tenth of a processor', share: 0.1, notYet: 9_800, then: 220 },
  { name: 'four threads at work', share: 4, notYet: 900, then: 120 },
  { name: 'nothing to do at all', share: 0, notYet: 599_000, then: 1_020 },
])('a limit of a second, with $name', ({ share, notYet, then }) => {
  start(1_000);
  expect(pass(notYet, share)).toBe(false);
  expect(pass(then, share)).toBe(true);
});

it('does not blame a thread for the time that the whole process stood still', () => {
  start(1_000);
  usedMs += 10;
  vi.setSystemTime(Date.now() + 3_600_000);
  vi.advanceTimersToNextTimer();
  expect(pass(500, 1)).toBe(false);
});

it('is over with the answer, also with one that came in while the limit passed', () => {
  const end = start(1_000);
  expect(pass(900, 1)).toBe(false);
  usedMs += 100;
  // The timer fires; what waits behind the timers comes in before the limit counts.
  setTimeout(end, 100);
  expect(pass(2_000, 1)).toBe(false);
});
