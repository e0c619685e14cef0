import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { PlanJudge, type PlanJudgeOptions } from '../../../src/core/preview/plan-judge.ts';
import { approvedPlans } from '../../../src/core/publish/approval/approved-plans.ts';
import type { CompactRecord } from '../../../src/core/publish/record/compact-record.ts';
import { specHash } from '../../../src/core/publish/judge/decide-publication.ts';

const NOW = '2026-01-01T12:00:00Z';
const KEY = 'team/web';
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const placement = (annotations: Record<string, string> = {}, numberOfClusters?: number): Placement => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: { namespace: 'team', name: 'web', annotations },
  spec: { numberOfClusters },
});

const side = (one: Placement) => ({ approvals: [approvedPlans([one])], placements: [one] });

const result = (selected: readonly string[], of = placement()): ScheduleResult =>
  ({
    placement: of,
    outcome: 'scheduled',
    selected,
    groups: [{ name: '', index: 0, clusters: selected }],
    conditions: [],
  }) as unknown as ScheduleResult;

const record = (of: Placement, removed: number): CompactRecord =>
  ({
    hash: 'r',
    placement: KEY,
    spec: specHash(digest, of),
    publishedAt: '2026-01-01T11:58:00Z',
    removed: { count: removed, names: [] },
    released: null,
  }) as unknown as CompactRecord;

const judge = (over: Partial<PlanJudgeOptions> = {}): PlanJudge =>
  new PlanJudge({
    base: side(placement()),
    head: side(placement()),
    live: [
      { ...placement(), metadata: { ...placement().metadata, creationTimestamp: '2026-01-01T00:00:00Z' } },
    ],
    published: new Map([[KEY, ['c1', 'c2', 'c3', 'c4']]]),
    recordsOf: () => [],
    budgetOf: () => undefined,
    now: NOW,
    digest,
    ...over,
  });
const budget = { 'berth.dev/removal-budget': '50%' };
const holdOf = (one: PlanJudge, of = result(['c1', 'c2', 'c3'], placement(budget))) =>
  one.hold(KEY, [], of, false);

describe('the judge of a plan', () => {
  it('counts what was removed from a placement in the ten minutes before', () => {
    expect(holdOf(judge())).toBeUndefined();
    const after = judge({ recordsOf: () => [record(placement(), 3)] });
    expect(holdOf(after)).toMatchObject({
      reason: 'RemovalBudgetExceeded',
      message: expect.stringContaining(
        '1 of 4 clusters would be removed, after 3 in the last minutes (budget 3)',
      ) as string,
    });
    expect(after.outcomeOf(KEY, result(['c1', 'c2', 'c3'], placement(budget)))).toHaveLength(4);
  });

  it('does not count it when the merge changes the spec', () => {
    const changed = placement(budget, 3);
    const after = judge({ head: side(changed), recordsOf: () => [record(placement(), 3)] });
    expect(holdOf(after, result(['c1', 'c2', 'c3'], changed))).toBeUndefined();
  });

  it('counts it when the merge brings the published spec back, which the hub has with its defaults', () => {
    const inGit = { ...placement(budget), spec: { prioritizerPolicy: {} } };
    const onHub = {
      ...inGit,
      spec: { prioritizerPolicy: { mode: 'Additive' }, sortBy: 'ClusterName' },
    } as Placement;
    const between = placement(budget, 3);
    const after = judge({
      base: side(between),
      head: side(inGit),
      live: [{ ...between, metadata: { ...between.metadata, creationTimestamp: '2026-01-01T00:00:00Z' } }],
      recordsOf: () => [record(onHub, 3)],
    });
    expect(after.hold(KEY, [], result(['c1', 'c2', 'c3'], inGit), true)?.reason).toBe(
      'RemovalBudgetExceeded',
    );
  });

  it('holds what is another change than the one that the merge brings an approval for', () => {
    const approved = placement({ ...budget, 'berth.dev/plan': '0123456789ab' });
    const after = judge({ head: { ...side(approved), commit: 'a'.repeat(40) } });
    expect(holdOf(after, result(['c1', 'c2', 'c3'], approved))).toMatchObject({ reason: 'DiffersFromPlan' });
    const before = judge({ base: side(approved), head: side(approved) });
    expect(holdOf(before, result(['c1', 'c2', 'c3'], approved))).toBeUndefined();
  });

  it('ends an approval that stays in Git with the change that it approves', () => {
    const approved = placement({ ...budget, 'berth.dev/plan': '0123456789ab' });
    const condition = { type: 'berth.dev/Held', status: 'True', reason: 'DiffersFromPlan', message: '' };
    const live = [{ ...approved, status: { conditions: [condition] } } as unknown as Placement];
    const sides = { base: side(approved), head: side(approved), live };
    const change = result(['c1', 'c2', 'c3'], approved);
    expect(holdOf(judge(sides), change)?.reason).toBe('DiffersFromPlan');
    expect(holdOf(judge({ ...sides, approvalOf: () => 'met' }), change)).toBeUndefined();
  });

  it('counts what is published in the end, and not what a later round took back', () => {
    const one = judge();
    const before = ['c1', 'c2', 'c3', 'c4'];
    one.outcomeOf(KEY, result(['c1', 'c2', 'c3']));
    one.ended(new Map([[KEY, { uid: '', before, after: before }]]));
    expect(one.recordsAfter(KEY)).toEqual([]);
    one.ended(new Map([[KEY, { uid: '', before, after: ['c1', 'c2'] }]]));
    expect(one.recordsAfter(KEY)).toEqual([{ publishedAt: NOW, removed: { count: 2 }, released: null }]);
  });

  it('names another code where the same change was released before', () => {
    const released = { ...record(placement(), 1), released: { token: '', by: 'Ada' } };
    const code = judge().code(KEY, [], ['c1']);
    const again = judge({ recordsOf: () => [{ ...released, released: { token: code, by: 'Ada' } }] });
    expect(again.code(KEY, [], ['c1'])).not.toBe(code);
  });
});
