import { describe, expect, it } from 'vitest';
import { applySnapshotChanges } from '../../src/explain/snapshot/apply-snapshot-change.ts';
import { decideInSnapshot } from '../../src/explain/verdict/decide-in-snapshot.ts';
import { decisionChanges } from '../../src/explain/decision-changes.ts';
import { describePlacement } from '../../src/explain/text/describe-placement.ts';
import { explainPlacement } from '../../src/explain/explain-placement.ts';
import type { SnapshotChange } from '../../src/explain/snapshot/snapshot-change.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { cluster, placement, score, snapshot } from './snapshots.ts';

const REF = { namespace: 'team', name: 'web' };
const BEFORE = snapshot({
  placements: [
    placement({
      numberOfClusters: 2,
      predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { tier: 'gold' } } } }],
      prioritizerPolicy: {
        mode: 'Exact',
        configurations: [
          {
            scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'usage', scoreName: 'cpu' } },
            weight: 1,
          },
        ],
      },
    }),
  ],
  clusters: ['a', 'b', 'c', 'd'].map((name) => cluster(name, { tier: name === 'd' ? 'silver' : 'gold' })),
  scores: [score('a', { cpu: 30 }), score('b', { cpu: 20 }), score('c', { cpu: 10 })],
});

function changesAfter(before: Snapshot, changes: readonly SnapshotChange[]) {
  const decision = decideInSnapshot(applySnapshotChanges(before, changes), REF);
  const old = decideInSnapshot(before, REF)?.decided.result.selected;
  if (decision === undefined || old === undefined) throw new Error('no placement');
  return decisionChanges({ ...decision, before: old, snapshotBefore: before });
}

const TAINT_B: SnapshotChange = { kind: 'add-taint', cluster: 'b', taint: { key: 'x', effect: 'NoSelect' } };

describe('decisionChanges', () => {
  it.each<[string, readonly SnapshotChange[], unknown]>([
    ['nothing', [], { gained: [], lost: [] }],
    [
      'a taint',
      [TAINT_B],
      {
        gained: [
          { cluster: 'c', because: 'rank 2 of 2 with 10 points', causes: ['ManagedCluster b'], points: 10 },
        ],
        lost: [{ cluster: 'b', because: 'tainted x', causes: ['ManagedCluster b'] }],
      },
    ],
    [
      'a score of another cluster',
      [{ kind: 'set-score', cluster: 'c', resourceName: 'usage', scoreName: 'cpu', value: 90 }],
      {
        gained: [
          {
            cluster: 'c',
            because: 'rank 1 of 3 with 90 points',
            causes: ['AddOnPlacementScore c/usage'],
            points: 90,
          },
        ],
        lost: [{ cluster: 'b', because: 'outranked', causes: ['AddOnPlacementScore c/usage'], points: 20 }],
      },
    ],
    [
      'the placement itself, among other changes',
      [
        { kind: 'set-number-of-clusters', placement: REF, numberOfClusters: 3 },
        { kind: 'set-label', cluster: 'd', key: 'other', value: 'x' },
      ],
      {
        gained: [
          { cluster: 'c', because: 'rank 3 of 3 with 10 points', causes: ['Placement team/web'], points: 10 },
        ],
        lost: [],
      },
    ],
    [
      'a cluster that left the fleet',
      [{ kind: 'remove-cluster', cluster: 'a' }],
      {
        gained: [
          { cluster: 'c', because: 'rank 2 of 2 with 10 points', causes: ['ManagedCluster a'], points: 10 },
        ],
        lost: [{ cluster: 'a', because: 'unknown to the fleet', causes: ['ManagedCluster a'] }],
      },
    ],
    [
      'two changes, each with its own effect',
      [
        TAINT_B,
        { kind: 'set-label', cluster: 'd', key: 'tier', value: 'gold' },
        { kind: 'set-score', cluster: 'd', resourceName: 'usage', scoreName: 'cpu', value: 95 },
      ],
      {
        gained: [
          {
            cluster: 'd',
            because: 'rank 1 of 3 with 95 points',
            causes: ['ManagedCluster d', 'AddOnPlacementScore d/usage'],
            points: 95,
          },
        ],
        lost: [{ cluster: 'b', because: 'tainted x', causes: ['ManagedCluster b'] }],
      },
    ],
  ])('%s', (_name, changes, want) => {
    expect(changesAfter(BEFORE, changes)).toEqual(want);
  });

  describe('of a placement that counts the decisions of others', () => {
    const balance = {
      mode: 'Exact' as const,
      configurations: [
        { scoreCoordinate: { type: 'BuiltIn' as const, builtIn: 'Balance' as const }, weight: 1 },
      ],
    };
    const web = placement({ numberOfClusters: 1, prioritizerPolicy: balance });
    const named = (name: string) => ({ ...web, metadata: { ...web.metadata, name } });
    const pageOf = (name: string, clusters: readonly string[]): Snapshot['decisions'][number] => ({
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'PlacementDecision',
      metadata: {
        name: `${name}-decision-1`,
        namespace: 'team',
        labels: { 'cluster.open-cluster-management.io/placement': name },
      },
      status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
    });
    const clusters = ['a', 'b'].map((name) => cluster(name, {}));
    const counted = snapshot({ placements: [web, named('other')], clusters });
    const before = { ...counted, decisions: [pageOf('other', ['a']), pageOf('web', ['b'])] };
    const causesIn = (after: Snapshot): readonly (readonly string[])[] => {
      const decision = decideInSnapshot(after, REF);
      if (decision === undefined) throw new Error('no placement');
      const { gained, lost } = decisionChanges({ ...decision, before: ['b'], snapshotBefore: before });
      return [...gained, ...lost].map(({ causes }) => causes);
    };

    it('names the one that was deleted', () => {
      const after = { ...before, placements: [web], decisions: [pageOf('web', ['b'])] };
      const cause = 'Placement team/other (deleted: its decisions no longer count)';
      expect(causesIn(after)).toEqual([[cause], [cause]]);
    });

    it('names the one that moved', () => {
      const moved = {
        ...before,
        placements: [web],
        decisions: [pageOf('other', ['b']), pageOf('web', ['b'])],
      };
      const after = { ...moved, placements: [web, { ...named('other'), spec: { numberOfClusters: 0 } }] };
      const cause = 'Placement team/other (its decisions changed)';
      expect(causesIn(after)).toEqual([[cause], [cause]]);
    });

    it.each([
      { limit: undefined, causes: [['Placement team/web'], ['ManagedCluster b']] },
      { limit: 1, causes: [[], ['ManagedCluster b']] },
    ])('names no placement that moved with it, limit $limit', ({ limit, causes }) => {
      const drained = applySnapshotChanges(
        { ...before, placements: [placement({ numberOfClusters: limit, prioritizerPolicy: balance })] },
        [TAINT_B],
      );
      const after = { ...drained, decisions: [pageOf('other', ['b']), pageOf('web', ['b'])] };
      expect(causesIn(after)).toEqual(causes);
    });
  });

  it('leaves the causes open when the snapshot of before is not known', () => {
    const decision = decideInSnapshot(applySnapshotChanges(BEFORE, [TAINT_B]), REF);
    if (decision === undefined) throw new Error('no placement');
    const changes = decisionChanges({ ...decision, before: ['a', 'b'] });
    expect(changes.lost).toEqual([{ cluster: 'b', because: 'tainted x', causes: [] }]);
  });
});

describe('explainPlacement', () => {
  it('sums up like kube-scheduler, then lists', () => {
    const after = applySnapshotChanges(BEFORE, [
      TAINT_B,
      { kind: 'set-number-of-clusters', placement: REF, numberOfClusters: 1 },
    ]);
    const decision = decideInSnapshot(after, REF);
    if (decision === undefined) throw new Error('no placement');
    const explanation = explainPlacement(
      decision.snapshot,
      decision.decided,
      changesAfter(BEFORE, [TAINT_B]),
    );
    expect(explanation.counts).toEqual({
      clusters: 4,
      available: 4,
      afterPredicates: 3,
      afterTaints: 2,
      selected: 1,
      wanted: 1,
    });
    expect(describePlacement(explanation)).toEqual([
      'Placement team/web: 1 of 4 clusters selected; 1 lack label tier=gold, 1 outranked, 1 tainted x',
      '  All cluster decisions scheduled',
      '  cluster sets that count: prod',
      '',
      'Selected:',
      '  CLUSTER  SCORE  FROM',
      '  a        30     AddOn/usage/cpu 30×1',
      '',
      'Next in line, behind a with 30:',
      '  CLUSTER  SCORE  FROM                  SELECTED IF',
      '  c        10     AddOn/usage/cpu 10×1  it gains 21 points, or numberOfClusters is 2',
      '',
      'Not selected:',
      '  1 lack label tier=gold (d)',
      '  1 outranked (c)',
      '  1 tainted x (b)',
      '',
      'Since the last decision:',
      '  + c: rank 2 of 2 with 10 points; changed: ManagedCluster b',
      '  - b: tainted x; changed: ManagedCluster b',
    ]);
  });
});
