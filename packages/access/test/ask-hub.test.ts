import { expect, it } from 'vitest';
import { KeptAnswers } from '../src/server/ask-hub.ts';

const at = { nowMs: 0 };
const clock = { now: () => at.nowMs, schedule: () => () => undefined };

it('asks once in ten seconds, again after a failure, and keeps ten thousand answers at most', async () => {
  const answers = new KeptAnswers<number>(clock);
  let asked = 0;
  const ask = () => Promise.resolve((asked += 1));
  expect([await answers.get('a', ask), await answers.get('a', ask)]).toEqual([1, 1]);
  at.nowMs = 10_000;
  expect(await answers.get('a', ask)).toBe(2);
  await expect(
    answers.get('b', () => Promise.reject(new Error('the hub does not answer'))),
  ).rejects.toThrow();
  expect(await answers.get('b', ask)).toBe(3);
  for (let key = 0; key < 10_000; key++) await answers.get(`${key}`, ask);
  expect(await answers.get('9999', ask)).toBe(10_003);
  expect(await answers.get('a', ask)).toBe(10_004);
});
