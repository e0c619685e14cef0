import { expect, it } from 'vitest';
import { Backoff } from '../../src/loop/backoff.ts';

const limits = { initialMs: 100, maxMs: 1_000 };

it.each([
  { random: 0, want: [50, 100, 200, 400, 500, 500] },
  { random: 0.5, want: [75, 150, 300, 600, 750, 750] },
])('doubles up to the limit, half of it jitter (random $random)', ({ random, want }) => {
  const backoff = new Backoff(limits, () => random);
  expect(want.map(() => backoff.nextMs())).toEqual(want);
  backoff.reset();
  expect(backoff.nextMs()).toBe(want[0]);
});

it('stays finite after very many failures', () => {
  const backoff = new Backoff({ initialMs: 1, maxMs: 60_000 }, () => 0);
  for (let i = 0; i < 5_000; i++) backoff.nextMs();
  expect(backoff.nextMs()).toBe(30_000);
});
