import type { DecisionRow, DecisionTable } from '@berth/placement/explain/text/decision-table';
import { type PreviewReport, reportPage } from '../../../../src/core/preview/report/report-page.ts';
import { move, placementPlan, plan, planned, workload } from '../comment/comment-fixture.ts';

const row = (
  cluster: string,
  rank: number,
  [free, steady]: readonly [number, number],
  over: Partial<DecisionRow> = {},
): DecisionRow => ({
  cluster,
  rank,
  total: free * 2 + steady,
  omittedBefore: 0,
  points: [
    { score: free, points: free * 2, state: 'valid' },
    { score: steady, points: steady, state: 'valid' },
  ],
  flipsIf: '',
  ...over,
});

export const TABLE: DecisionTable = {
  placement: { namespace: 'team-a', name: 'web' },
  ...{ selectedCount: 9, clusterCount: 40, message: '', moreNext: 3 },
  prioritizers: [
    { name: 'AddOn/usage/free', weight: 2 },
    { name: 'Steady', weight: 1 },
  ],
  selected: [
    row('c2', 1, [80, 100], { flipsIf: 'it loses 210 points' }),
    row('c3', 9, [30, 0], { omittedBefore: 7, change: 'joins', flipsIf: 'it loses 10 points' }),
  ],
  cut: { kind: 'score', cluster: 'c3', total: 60 },
  next: [
    row('c4', 10, [0, 50], {
      points: [
        { score: 0, points: 0, state: 'missing' },
        { score: 50, points: 50, state: 'stale' },
      ],
      flipsIf: 'it gains 11 points, or numberOfClusters is 10',
    }),
  ],
  refused: [
    {
      gate: 'predicates',
      count: 25,
      reasons: [
        { text: 'lack label tier=gold', count: 20, clusters: ['d1', 'd2'], leaving: [], flipsIf: '' },
        { text: 'lack label gpu', count: 5, clusters: ['e1'], leaving: [], flipsIf: 'set label gpu=a' },
      ],
    },
    {
      gate: 'taints',
      count: 1,
      reasons: [{ text: 'tainted maintenance', count: 1, clusters: ['c1'], leaving: ['c1'], flipsIf: '' }],
    },
  ],
};

const moved = placementPlan('team-a/web', {
  removed: [move('c1', 'tainted maintenance', 'ManagedCluster c1')],
  added: [move('c3', 'rank 9 of 13 with 60 points')],
  kept: 1,
  after: { clusters: ['c2', 'c3'] },
});
const emptied = placementPlan('team-a/db', {
  removed: [move('c1', 'tainted maintenance', 'ManagedCluster c1')],
  after: { selected: 0 },
  held: {
    reason: 'WouldEmpty',
    message: 'It would leave its only cluster, c1, though nobody edited the placement.',
  },
});

export const PLAN = plan({
  placements: [moved, emptied],
  workloads: [workload('shop', 'team-a/web')],
  decisions: [TABLE],
  notEvaluated: ['Something was not evaluated.'],
});

export function page(over: Partial<PreviewReport> = {}): string {
  return reportPage({
    subject: 'team/fleet#7',
    pullRequest: {
      title: 'Drain c1',
      authorName: 'Ada',
      url: 'https://forge.test/team/fleet/pulls/7',
    },
    outcome: planned(PLAN),
    approvals: [],
    maxLength: 1_000_000,
    ...over,
  });
}
