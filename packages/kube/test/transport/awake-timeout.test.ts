import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { startAwakeTimeout } from '../../src/transport/awake-timeout.ts';

afterEach(() => void vi.useRealTimers());

it('calls back after so long, once, and not when it was ended', () => {
  vi.useFakeTimers();
  let over = 0;
  startAwakeTimeout(1_000, () => (over += 1));
  const end = startAwakeTimeout(1_000, () => (over += 10));
  vi.advanceTimersByTime(999);
  expect(over).toBe(0);
  end();
  vi.advanceTimersByTime(5_000);
  expect(over).toBe(1);
});

it('lets what came in be read first when the process stood still for longer', async () => {
  let over = false;
  startAwakeTimeout(200, () => (over = true));
  const begunAtMs = performance.now();
  while (performance.now() - begunAtMs < 300);
  await nextTurn();
  await nextTurn();
  expect(over).toBe(false);
  await expect.poll(() => over).toBe(true);
});
