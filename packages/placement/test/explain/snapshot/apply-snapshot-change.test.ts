import { describe, expect, it } from 'vitest';
import { applySnapshotChange } from '../../../src/explain/snapshot/apply-snapshot-change.ts';
import { describeChange } from '../../../src/explain/text/describe-change.ts';
import type { SnapshotChange } from '../../../src/explain/snapshot/snapshot-change.ts';
import type { Snapshot } from '../../../src/snapshot/snapshot.ts';
import { cluster, placement, score, snapshot } from '../snapshots.ts';

const TAINT = { key: 'maintenance', effect: 'NoSelect' as const, timeAdded: '2026-03-01T11:00:00Z' };
const SELECTOR = {
  labelSelector: { matchLabels: { tier: 'gold' }, matchExpressions: [{ key: 'region', operator: 'Exists' }] },
  claimSelector: { matchExpressions: [{ key: 'zone', operator: 'Exists' }] },
  celSelector: { celExpressions: ['true', 'false'] },
};
const BEFORE = snapshot({
  placements: [
    placement({
      numberOfClusters: 1,
      clusterSets: ['prod'],
      spreadPolicy: {
        spreadConstraints: [
          { topologyKey: 'region', topologyKeyType: 'Label', maxSkew: 2, whenUnsatisfiable: 'DoNotSchedule' },
        ],
      },
      predicates: [{ requiredClusterSelector: SELECTOR }],
    }),
  ],
  clusters: [cluster('c1', { tier: 'gold' }, { taints: [TAINT], claims: { zone: 'a' } }), cluster('c2')],
  scores: [score('c1', { cpu: 5, mem: 6 })],
});
const PLACEMENT = { namespace: 'team', name: 'web' };

interface Case {
  readonly change: SnapshotChange;
  readonly read: (after: Snapshot) => unknown;
  readonly want: unknown;
  readonly text: string;
}

const selectorOf = (after: Snapshot) => after.placements[0]?.spec?.predicates?.[0]?.requiredClusterSelector;

const CASES: readonly Case[] = [
  {
    change: { kind: 'set-label', cluster: 'c2', key: 'tier', value: 'gold' },
    read: (after) => after.clusters[1]?.metadata.labels?.['tier'],
    want: 'gold',
    text: 'set label tier=gold on cluster c2',
  },
  {
    change: { kind: 'remove-label', cluster: 'c1', key: 'tier' },
    read: (after) => after.clusters[0]?.metadata.labels?.['tier'],
    want: undefined,
    text: 'remove label tier from cluster c1',
  },
  {
    change: { kind: 'set-claim', cluster: 'c1', name: 'zone', value: 'b' },
    read: (after) => after.clusters[0]?.status?.clusterClaims,
    want: [{ name: 'zone', value: 'b' }],
    text: 'have cluster c1 claim zone=b',
  },
  {
    change: { kind: 'remove-claim', cluster: 'c1', name: 'zone' },
    read: (after) => after.clusters[0]?.status?.clusterClaims,
    want: [],
    text: 'have cluster c1 no longer claim zone',
  },
  {
    change: { kind: 'add-taint', cluster: 'c2', taint: TAINT },
    read: (after) => after.clusters[1]?.spec?.taints,
    want: [TAINT],
    text: 'taint cluster c2 with maintenance:NoSelect',
  },
  {
    change: { kind: 'remove-taint', cluster: 'c1', key: 'maintenance', effect: 'NoSelect' },
    read: (after) => after.clusters[0]?.spec?.taints,
    want: [],
    text: 'remove taint maintenance:NoSelect from cluster c1',
  },
  {
    change: { kind: 'remove-taint', cluster: 'c1', key: 'maintenance', effect: 'NoSelectIfNew' },
    read: (after) => after.clusters[0]?.spec?.taints?.length,
    want: 1,
    text: 'remove taint maintenance:NoSelectIfNew from cluster c1',
  },
  {
    change: { kind: 'set-score', cluster: 'c1', resourceName: 'usage', scoreName: 'cpu', value: 9 },
    read: (after) => after.scores.map(({ status }) => status?.scores),
    want: [
      [
        { name: 'mem', value: 6 },
        { name: 'cpu', value: 9 },
      ],
    ],
    text: 'have cluster c1 score cpu=9 in AddOnPlacementScore usage',
  },
  {
    change: { kind: 'set-score', cluster: 'c2', resourceName: 'usage', scoreName: 'cpu', value: 9 },
    read: (after) => after.scores.map(({ metadata }) => metadata.namespace),
    want: ['c1', 'c2'],
    text: 'have cluster c2 score cpu=9 in AddOnPlacementScore usage',
  },
  {
    change: { kind: 'remove-cluster', cluster: 'c1' },
    read: (after) => after.clusters.map(({ metadata }) => metadata.name),
    want: ['c2'],
    text: 'remove cluster c1',
  },
  {
    change: { kind: 'add-cluster', cluster: cluster('c3') },
    read: (after) => after.clusters.map(({ metadata }) => metadata.name),
    want: ['c1', 'c2', 'c3'],
    text: 'add cluster c3',
  },
  {
    change: { kind: 'set-number-of-clusters', placement: PLACEMENT, numberOfClusters: 3 },
    read: (after) => after.placements[0]?.spec?.numberOfClusters,
    want: 3,
    text: 'set numberOfClusters of placement team/web to 3',
  },
  {
    change: {
      kind: 'add-toleration',
      placement: PLACEMENT,
      toleration: { key: 'maintenance', operator: 'Exists' },
    },
    read: (after) => after.placements[0]?.spec?.tolerations,
    want: [{ key: 'maintenance', operator: 'Exists' }],
    text: 'let placement team/web tolerate maintenance',
  },
  {
    change: { kind: 'add-cluster-set', placement: PLACEMENT, clusterSet: 'dev' },
    read: (after) => after.placements[0]?.spec?.clusterSets,
    want: ['prod', 'dev'],
    text: 'add cluster set dev to spec.clusterSets of placement team/web',
  },
  {
    change: { kind: 'bind-cluster-set', namespace: 'team', clusterSet: 'dev' },
    read: (after) => after.bindings.map(({ metadata }) => metadata.name),
    want: ['prod', 'dev'],
    text: 'bind cluster set dev to namespace team',
  },
  {
    change: {
      kind: 'drop-predicate-part',
      placement: PLACEMENT,
      part: { predicate: 0, part: 'label', key: 'tier' },
    },
    read: (after) => selectorOf(after)?.labelSelector,
    want: { matchLabels: {}, matchExpressions: [{ key: 'region', operator: 'Exists' }] },
    text: 'drop the requirement on label tier from predicate 1 of placement team/web',
  },
  {
    change: {
      kind: 'drop-predicate-part',
      placement: PLACEMENT,
      part: { predicate: 0, part: 'claim', key: 'zone' },
    },
    read: (after) => selectorOf(after)?.claimSelector,
    want: { matchExpressions: [] },
    text: 'drop the requirement on claim zone from predicate 1 of placement team/web',
  },
  {
    change: {
      kind: 'drop-predicate-part',
      placement: PLACEMENT,
      part: { predicate: 0, part: 'cel', key: 'false' },
    },
    read: (after) => selectorOf(after)?.celSelector,
    want: { celExpressions: ['true'] },
    text: 'drop the CEL expression false from predicate 1 of placement team/web',
  },
  {
    change: { kind: 'relax-spread', placement: PLACEMENT, topologyKey: 'region' },
    read: (after) => after.placements[0]?.spec?.spreadPolicy?.spreadConstraints,
    want: [
      {
        topologyKey: 'region',
        topologyKeyType: 'Label',
        maxSkew: 2,
        whenUnsatisfiable: 'ScheduleAnyway',
      },
    ],
    text: 'let placement team/web schedule anyway when region cannot be spread',
  },
  {
    change: { kind: 'pass-time', seconds: 90 },
    read: (after) => after.now,
    want: '2026-03-01T12:01:30Z',
    text: 'wait 90 s',
  },
];

describe('applySnapshotChange', () => {
  it.each(CASES)('$text', ({ change, read, want, text }) => {
    const untouched = structuredClone(BEFORE);
    expect(read(applySnapshotChange(BEFORE, change))).toEqual(want);
    expect(BEFORE).toEqual(untouched);
    expect(describeChange(change)).toBe(text);
  });

  it('takes hostile names as names', () => {
    const after = applySnapshotChange(BEFORE, {
      kind: 'set-label',
      cluster: 'c1',
      key: '__proto__',
      value: 'x',
    });
    expect(Object.getPrototypeOf(after.clusters[0]?.metadata.labels)).toBe(Object.prototype);
    expect(
      applySnapshotChange(BEFORE, { kind: 'remove-cluster', cluster: 'constructor' }).clusters,
    ).toHaveLength(2);
  });
});
