import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applySnapshotChanges } from '../../src/explain/snapshot/apply-snapshot-change.ts';
import { decideFirstPlacement, decideInSnapshot } from '../../src/explain/verdict/decide-in-snapshot.ts';
import { describePair } from '../../src/explain/text/describe-pair.ts';
import { decisionTable } from '../../src/explain/text/decision-table.ts';
import { explainPair } from '../../src/explain/explain-pair.ts';
import { explainPlacement } from '../../src/explain/explain-placement.ts';
import type { ClusterPredicate, PlacementSpec, SpreadConstraint } from '@berth/ocm/kind/placement';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { binding, cluster, clusterSet, placement, score, snapshot } from '../explain/snapshots.ts';

const KEYS = ['tier', 'region'] as const;
const VALUES = ['a', 'b', 'c'];
const key = fc.constantFrom(...KEYS);
const value = fc.constantFrom(...VALUES);
const effect = fc.constantFrom('NoSelect', 'NoSelectIfNew', 'PreferNoSelect');
const taintKey = fc.constantFrom('x', 'y');

const requirement = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.uniqueArray(value, { minLength: 1 }),
  }),
  fc.record({ key, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);
const cel = fc.oneof(
  value.map((wanted) => `managedCluster.metadata.labels.tier == "${wanted}"`),
  fc.constant('managedCluster.metadata.name < "c3"'),
);
const predicate: fc.Arbitrary<ClusterPredicate> = fc
  .record({
    labels: fc.array(requirement, { maxLength: 2 }),
    claims: fc.array(requirement, { maxLength: 1 }),
    cel: fc.array(cel, { maxLength: 1 }),
  })
  .map(({ labels, claims, cel: celExpressions }) => ({
    requiredClusterSelector: {
      labelSelector: { matchExpressions: labels },
      claimSelector: { matchExpressions: claims },
      celSelector: { celExpressions },
    },
  }));
const constraint: fc.Arbitrary<SpreadConstraint> = fc.record({
  topologyKey: key,
  topologyKeyType: fc.constant('Label' as const),
  maxSkew: fc.constantFrom(1, 2),
  whenUnsatisfiable: fc.constantFrom('DoNotSchedule', 'ScheduleAnyway'),
});
const spec: fc.Arbitrary<PlacementSpec> = fc
  .record({
    numberOfClusters: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    predicates: fc.array(predicate, { maxLength: 2 }),
    tolerations: fc.array(
      fc.record({
        key: taintKey,
        operator: fc.constant('Exists' as const),
        tolerationSeconds: fc.option(fc.constantFrom(60, 86_400), { nil: undefined }),
      }),
      { maxLength: 1 },
    ),
    clusterSets: fc.constantFrom([], ['prod'], ['prod', 'dev']),
    weight: fc.constantFrom(-2, 1, 3),
    spread: fc.array(constraint, { maxLength: 2 }),
  })
  .map(({ weight, spread, ...rest }) => ({
    ...rest,
    prioritizerPolicy: {
      mode: 'Additive',
      configurations: [
        { scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'usage', scoreName: 'cpu' } }, weight },
      ],
    },
    spreadPolicy: { spreadConstraints: spread },
  }));

const fleetCluster = fc.record({
  labels: fc.dictionary(key, value),
  claims: fc.dictionary(key, value),
  taints: fc.uniqueArray(
    fc.record({ key: taintKey, effect, timeAdded: fc.constant('2026-03-01T11:50:00Z') }),
    {
      maxLength: 2,
      selector: (taint) => `${taint.key} ${taint.effect}`,
    },
  ),
  set: fc.constantFrom('prod', 'dev', 'none'),
  cpu: fc.integer({ min: -100, max: 100 }),
});

const snapshots: fc.Arbitrary<Snapshot> = fc
  .record({
    spec,
    clusters: fc.array(fleetCluster, { minLength: 1, maxLength: 7 }),
    bound: fc.subarray(['prod', 'dev']),
  })
  .map(({ spec: given, clusters, bound }) =>
    snapshot({
      placements: [placement(given)],
      clusters: clusters.map(({ labels, taints, claims, set }, i) =>
        cluster(`c${i}`, labels, { taints, claims, set }),
      ),
      scores: clusters.map(({ cpu }, i) => score(`c${i}`, { cpu })),
      clusterSets: [clusterSet('prod'), clusterSet('dev')],
      bindings: bound.map((name) => binding(name)),
    }),
  );

describe('explanations of random snapshots', () => {
  it('cover every cluster, and every suggestion selects it and evicts whom it says', () => {
    let suggestions = 0;
    fc.assert(
      fc.property(snapshots, (given) => {
        const decision = decideInSnapshot(given, { namespace: 'team', name: 'web' });
        if (decision === undefined) throw new Error('no decision');
        const before = decision.decided.result.selected;
        const whole = explainPlacement(decision.snapshot, decision.decided);
        const refused = whole.refusals.reduce((sum, { count }) => sum + count, 0);
        expect(refused + before.length).toBe(given.clusters.length);
        const { selected, next, moreNext, refused: gates, cut } = decisionTable(whole);
        const omitted = selected.reduce((sum, { omittedBefore }) => sum + omittedBefore, 0);
        const outside = gates.reduce((sum, { count }) => sum + count, next.length + moreNext);
        expect(selected.length + omitted + outside).toBe(given.clusters.length);
        for (const { total, rank } of cut.kind === 'score' ? next : []) {
          expect(total).toBeLessThanOrEqual(cut.kind === 'score' ? cut.total : 0);
          expect(rank).toBeGreaterThan(before.length);
        }
        for (const { metadata } of given.clusters) {
          const pair = explainPair({ ...decision, cluster: metadata.name });
          expect(pair.selected).toBe(before.includes(metadata.name));
          expect(describePair(pair).join('\n')).not.toMatch(/undefined|NaN|\[object/);
          for (const { changes, evicts } of pair.suggestions) {
            suggestions++;
            const after =
              decideFirstPlacement(applySnapshotChanges(decision.snapshot, changes))?.result.selected ?? [];
            expect(after).toContain(metadata.name);
            expect(evicts).toEqual(before.filter((name) => !after.includes(name)));
          }
        }
      }),
      { numRuns: 1500 },
    );
    expect(suggestions).toBeGreaterThan(1000);
  });
});
