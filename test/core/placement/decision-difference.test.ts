import { describe, expect, it } from 'vitest';
import { differenceOf, scoreRateLimitMs } from '../../../src/core/placement/decision-difference.ts';
import { scheduleAll } from '../../../src/core/placement/schedule-all.ts';
import type { ScheduleResult } from '../../../src/core/placement/schedule-result.ts';
import { BY_SCORE, worldOf } from './worlds.ts';

function decide(scores: Record<string, number>, sortBy?: 'Score'): ScheduleResult {
  const clusters = Object.entries(scores).map(([name, score]) => ({ name, score }));
  return scheduleAll(
    worldOf({ clusters, spec: { prioritizerPolicy: BY_SCORE, sortBy } }),
  )[0] as ScheduleResult;
}

describe('differenceOf', () => {
  it.each([
    ['nothing changed', { a: 1, b: 2 }, { a: 1, b: 2 }, 'none'],
    ['one score changed', { a: 1, b: 3 }, { a: 1, b: 2 }, 'scores'],
    ['the order changed', { a: 3, b: 2 }, { a: 1, b: 2 }, 'scores'],
    ['a cluster came', { a: 1, b: 2 }, { a: 1, b: 2, c: 3 }, 'decisions'],
    ['a cluster was exchanged', { a: 1, b: 2 }, { a: 1, c: 2 }, 'decisions'],
  ] as const)('with sortBy Score, %s', (_name, before, after, want) => {
    expect(differenceOf(decide(before, 'Score'), decide(after, 'Score'))).toBe(want);
  });

  it('without sortBy Score, scores are no difference', () => {
    expect(differenceOf(decide({ a: 1, b: 2 }), decide({ a: 3, b: 2 }))).toBe('none');
  });
});

describe('scoreRateLimitMs', () => {
  it.each([
    [undefined, 60_000],
    ['1m', 60_000],
    ['1m30s', 90_000],
    ['0.5h', 1_800_000],
    ['250ms', 250],
    ['0', 0],
    ['0s', 0],
    ['', undefined],
    ['1', undefined],
    ['1 m', undefined],
    ['-1m', undefined],
  ])('%s is %s', (text, want) => {
    expect(scoreRateLimitMs(text)).toBe(want);
  });
});
