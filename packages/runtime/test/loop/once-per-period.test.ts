import { expect, it } from 'vitest';
import { OncePerPeriod } from '../../src/loop/rate-limiter.ts';

it('lets each text through once per period, and after the clock was set back', () => {
  let nowMs = 0;
  const once = new OncePerPeriod(() => nowMs, 60_000);
  const at = (ms: number, text: string) => {
    nowMs = ms;
    return once.isDue(text);
  };
  expect([at(0, 'a'), at(1, 'a'), at(2, 'b'), at(59_999, 'a'), at(60_000, 'a'), at(60_001, 'a')]).toEqual([
    ...[true, false, true, false, true, false],
  ]);
  expect(at(10, 'a')).toBe(true);
});

it('remembers a thousand texts, the newest', () => {
  const once = new OncePerPeriod(() => 0, 60_000);
  for (let n = 0; n <= 1_000; n += 1) once.isDue(String(n));
  expect([once.isDue('1'), once.isDue('1000'), once.isDue('0')]).toEqual([false, false, true]);
});
