import { describe, expect, it } from 'vitest';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { formatNameList } from '@berth/runtime/text/name-list';
import {
  heldCondition,
  judgeResult,
  type JudgeInput,
} from '../../../../src/core/publish/judge/judge-result.ts';
import { parseRemovalBudget, removalLimit } from '../../../../src/core/publish/judge/removal-budget.ts';

const names = (count: number, from = 1) => Array.from({ length: count }, (_, i) => `c${from + i}`);

function resultOf(
  selected: readonly string[],
  over: Partial<ScheduleResult> = {},
  spec: Placement['spec'] = {},
): ScheduleResult {
  return {
    placement: {
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'Placement',
      metadata: { name: 'web', namespace: 'team-a' },
      spec,
    },
    outcome: 'scheduled',
    status: { code: 'Success', plugin: '', message: '' },
    selected,
    selectedScores: selected.map(() => 0),
    unscheduled: 0,
    groups: [{ index: 0, name: '', clusters: selected }],
    conditions: [],
    requeueAtMs: undefined,
    ...over,
  };
}

const misconfigured: Partial<ScheduleResult> = {
  outcome: 'misconfigured',
  conditions: [
    { type: 'PlacementMisconfigured', status: 'True', reason: 'Misconfigured', message: 'Predicate:bad CEL' },
  ],
};

const input = (over: Partial<JudgeInput>): JudgeInput => ({
  result: resultOf(['c1']),
  published: ['c1'],
  specChanged: false,
  budget: { percent: 25, atLeast: 2 },
  recentlyRemoved: 0,
  inventoryProblem: undefined,
  code: () => '0123456789ab',
  releasedCodes: [],
  ...over,
});

describe('judgeResult', () => {
  it.each<{ name: string; over: Partial<JudgeInput>; want: string }>([
    {
      name: 'the first publication',
      over: { published: undefined, result: resultOf(names(3)) },
      want: 'publish',
    },
    {
      name: 'the first publication of nothing',
      over: { published: undefined, result: resultOf([]) },
      want: 'publish',
    },
    { name: 'no change', over: {}, want: 'publish' },
    { name: 'additions only', over: { result: resultOf(names(50)) }, want: 'publish' },
    { name: 'two of three go', over: { published: names(3), result: resultOf(['c1']) }, want: 'publish' },
    {
      name: 'three of eight go',
      over: { published: names(8), result: resultOf(names(5)) },
      want: 'RemovalBudgetExceeded',
    },
    {
      name: 'a quarter of twelve goes',
      over: { published: names(12), result: resultOf(names(9)) },
      want: 'publish',
    },
    {
      name: 'more than a quarter of twelve goes',
      over: { published: names(12), result: resultOf(names(8)) },
      want: 'RemovalBudgetExceeded',
    },
    {
      name: 'all are replaced',
      over: { published: names(4), result: resultOf(names(4, 5)) },
      want: 'RemovalBudgetExceeded',
    },
    {
      name: 'small steps add up',
      over: { published: names(10), result: resultOf(names(9)), recentlyRemoved: 3 },
      want: 'RemovalBudgetExceeded',
    },
    {
      name: 'small steps within the budget',
      over: { published: names(10), result: resultOf(names(9)), recentlyRemoved: 2 },
      want: 'publish',
    },
    { name: 'emptied by others', over: { published: names(2), result: resultOf([]) }, want: 'WouldEmpty' },
    {
      name: 'a small one emptied by its own change',
      over: { published: names(2), result: resultOf([]), specChanged: true },
      want: 'WouldEmpty',
    },
    {
      name: 'a large one emptied by its own change',
      over: { published: names(9), result: resultOf([]), specChanged: true },
      want: 'WouldEmpty',
    },
    {
      name: 'asks for none',
      over: { published: names(9), result: resultOf([], {}, { numberOfClusters: 0 }), specChanged: true },
      want: 'publish',
    },
    {
      name: 'asked for none before',
      over: { published: names(9), result: resultOf([], {}, { numberOfClusters: 0 }) },
      want: 'publish',
    },
    {
      name: 'misconfigured',
      over: { published: names(2), result: resultOf([], misconfigured), specChanged: true },
      want: 'Misconfigured',
    },
    {
      name: 'misconfigured from the start',
      over: { published: undefined, result: resultOf([], misconfigured) },
      want: 'Misconfigured',
    },
    {
      name: 'stale inventory',
      over: { result: resultOf(['c2']), inventoryProblem: 'last confirmed 400 s ago' },
      want: 'InventoryStale',
    },
    {
      name: 'stale inventory without a change',
      over: { inventoryProblem: 'last confirmed 400 s ago' },
      want: 'publish',
    },
    {
      name: 'released',
      over: { published: names(9), result: resultOf([]), releasedCodes: [undefined, '0123456789ab'] },
      want: 'publish',
    },
    {
      name: 'another change was released',
      over: { published: names(9), result: resultOf([]), releasedCodes: ['ffffffffffff', undefined] },
      want: 'WouldEmpty',
    },
    {
      name: 'a release does not make a stale inventory current',
      over: { result: resultOf([]), releasedCodes: [undefined, '0123456789ab'], inventoryProblem: 'x' },
      want: 'InventoryStale',
    },
  ])('$name: $want', ({ over, want }) => {
    const verdict = judgeResult(input(over));
    expect(verdict.kind === 'held' ? verdict.reason : verdict.kind).toBe(want);
  });

  it('says the numbers and both ways out, and does not list a thousand names', () => {
    const verdict = judgeResult(input({ published: names(1_000), result: resultOf(names(10)) }));
    expect(verdict).toMatchObject({ kind: 'held', code: '0123456789ab' });
    const message = verdict.kind === 'held' ? verdict.message : '';
    expect(message).toContain('990 of 1000 clusters would be removed (budget 250)');
    expect(message).toContain('and 980 more');
    expect(message).toContain('berth.dev/release: "0123456789ab"');
    expect(message).toContain('berth release team-a/web --token 0123456789ab');
    expect(message.length).toBeLessThan(1_000);
  });
});

describe('a misconfigured placement', () => {
  const messageOf = (over: Partial<JudgeInput>): string => {
    const verdict = judgeResult(input({ result: resultOf([], misconfigured), ...over }));
    return verdict.kind === 'held' ? verdict.message : '';
  };
  it('names the release that removes its clusters, where there are any', () => {
    expect(messageOf({ published: names(2) })).toContain('berth release team-a/web --token 0123456789ab');
    expect(messageOf({ published: undefined })).toMatch(/Correct the placement.$/);
  });
});

describe('heldCondition', () => {
  const hold = judgeResult(input({ published: names(9), result: resultOf([]) }));
  it('is there while held, becomes False once, and is not added for nothing', () => {
    const condition = heldCondition(hold.kind === 'held' ? hold : undefined, undefined);
    expect(condition).toMatchObject({ type: 'berth.dev/Held', status: 'True', reason: 'WouldEmpty' });
    expect(heldCondition(undefined, condition)).toMatchObject({ status: 'False', reason: 'Published' });
    expect(heldCondition(undefined, undefined)).toBeUndefined();
  });
});

describe('removal budgets', () => {
  it.each([
    { text: '25%', published: 40, want: 10 },
    { text: '25%', published: 4, want: 2 },
    { text: '0%', published: 100, want: 2 },
    { text: '100%', published: 100, want: 100 },
    { text: '0', published: 100, want: 0 },
    { text: '7', published: 100, want: 7 },
    { text: '101%', published: 100, want: undefined },
    { text: '-1', published: 100, want: undefined },
    { text: '', published: 100, want: undefined },
    { text: '1e3', published: 100, want: undefined },
  ])('$text of $published: $want', ({ text, published, want }) => {
    const budget = parseRemovalBudget(text);
    expect(budget && removalLimit(budget, published)).toBe(want);
  });
});

describe('a list of names in a message', () => {
  it.each([
    { count: 1, want: 'c1' },
    { count: 10, want: 'c1, c2, c3, c4, c5, c6, c7, c8, c9, c10' },
    { count: 12, want: 'c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 and 2 more' },
  ])('has at most ten of $count', ({ count, want }) => {
    expect(formatNameList(names(count))).toBe(want);
  });
});
