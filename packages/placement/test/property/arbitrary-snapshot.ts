import fc from 'fast-check';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { IntOrString } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import { MISSING_SCORES_ANNOTATION } from '../../src/prioritize/missing-scores.ts';
import { PREFER_NO_SELECT_ANNOTATION } from '../../src/select/rank.ts';
import type { SnapshotDelta } from '../../src/incremental/snapshot-delta.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';

/** Small snapshots with few words, so that everything meets everything: about as many matches as misses. */

const CLUSTERS = ['a', 'b', 'c', 'd', 'e', 'f'];
const SETS = ['s1', 's2', 'all'];
const PLACEMENTS = ['p1', 'p2', 'p3', 'p4'];
const NAMESPACES = ['x', 'y'];
const GROUP = 'cluster.open-cluster-management.io';
/** Many more clusters than words: whole crowds tie, and the least and the most of an amount have few holders. */
const CROWD = Array.from({ length: 48 }, (_, i) => `n${String(i).padStart(2, '0')}`);

const opt = <T>(arbitrary: fc.Arbitrary<T>, freq = 2): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq });
const oneOf = <T>(...items: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...items);
/** Minutes around noon of the first of March. */
export const minuteOf = (minute: number): string =>
  new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString().replace('.000', '');
const minute = fc.integer({ min: -8, max: 8 }).map(minuteOf);

const taint = fc.record({
  key: oneOf('k1', 'k2'),
  value: opt(oneOf('v', '')),
  effect: oneOf('NoSelect' as const, 'PreferNoSelect' as const, 'NoSelectIfNew' as const),
  timeAdded: opt(minute, 5),
});

export const cluster = (name: fc.Arbitrary<string> = oneOf(...CLUSTERS)): fc.Arbitrary<ManagedCluster> =>
  fc
    .record({
      name,
      set: opt(oneOf('s1', 's2'), 4),
      region: opt(oneOf('eu', 'us', 'ap'), 5),
      tier: opt(oneOf('gold', 'tin')),
      zone: opt(oneOf('1', '2')),
      taints: opt(fc.array(taint, { maxLength: 2 })),
      cpu: opt(oneOf('1', '2500m', '8', '1Ki')),
      deleted: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    })
    .map(({ set, region, tier, zone, taints, cpu, deleted, ...rest }) => ({
      apiVersion: `${GROUP}/v1`,
      kind: 'ManagedCluster',
      metadata: {
        name: rest.name,
        labels: {
          ...(set === undefined ? {} : { [`${GROUP}/clusterset`]: set }),
          ...(region === undefined ? {} : { region }),
          ...(tier === undefined ? {} : { tier }),
        },
        ...(deleted ? { deletionTimestamp: minuteOf(0) } : {}),
      },
      spec: { taints },
      status: {
        clusterClaims: zone === undefined ? [] : [{ name: 'zone', value: zone }],
        allocatable: cpu === undefined ? {} : { cpu },
        capacity: cpu === undefined ? {} : { cpu },
      },
    }));

const requirement = (key: string, values: readonly string[]) =>
  fc
    .record({
      operator: oneOf('In', 'NotIn', 'Exists', 'DoesNotExist', 'In', 'Bad'),
      values: fc.subarray([...values]),
    })
    .map(({ operator, values: chosen }) => ({
      key,
      operator,
      values: operator.endsWith('In') || chosen.length === 0 ? chosen : [],
    }));

const CEL = [
  'managedCluster.metadata.labels["tier"] == "gold"',
  'managedCluster.scores("load").size() > 0',
  'true',
];

const predicate = fc
  .record({
    labels: opt(requirement('region', ['eu', 'us'])),
    claims: opt(requirement('zone', ['1', '2']), 1),
    cel: opt(oneOf(...CEL), 1),
  })
  .map(({ labels, claims, cel }) => ({
    requiredClusterSelector: {
      labelSelector: labels === undefined ? undefined : { matchExpressions: [labels] },
      claimSelector: claims === undefined ? undefined : { matchExpressions: [claims] },
      celSelector: cel === undefined ? undefined : { celExpressions: [cel] },
    },
  }));

const toleration = fc
  .record({
    key: opt(oneOf('k1', 'k2'), 4),
    operator: opt(oneOf('Equal' as const, 'Exists' as const, 'Exists' as const), 6),
    value: opt(oneOf('v'), 1),
    effect: opt(oneOf('NoSelect' as const, 'NoSelectIfNew' as const, 'PreferNoSelect' as const), 1),
    tolerationSeconds: opt(oneOf(60, 300, 600), 2),
  })
  // Mostly well-formed; the rest stays to be refused.
  .map((one) => (one.key === undefined ? { ...one, operator: 'Exists' as const } : one))
  .map((one) => (one.operator === 'Exists' ? { ...one, value: undefined } : one));

const scoreCoordinate = oneOf(
  { type: 'BuiltIn', builtIn: 'Balance' },
  { type: 'BuiltIn', builtIn: 'Steady' },
  { type: 'BuiltIn', builtIn: 'ResourceAllocatableCPU' },
  { type: 'AddOn', addOn: { resourceName: 'load', scoreName: 'cpu' } },
);

const prioritizerPolicy = fc.record({
  mode: opt(oneOf('Additive', 'Exact', 'Additive', 'Nope'), 3),
  configurations: fc.array(
    fc.record({
      scoreCoordinate,
      weight: fc.integer({ min: -3, max: 3 }),
    }),
    { maxLength: 3 },
  ),
});

export const spreadConstraint = fc.record({
  topologyKey: oneOf('region', 'tier'),
  topologyKeyType: oneOf('Label' as const),
  maxSkew: opt(fc.integer({ min: 1, max: 2 })),
  whenUnsatisfiable: opt(oneOf('DoNotSchedule' as const, 'ScheduleAnyway' as const), 5),
});

const spec = fc.record({
  clusterSets: opt(fc.subarray([...SETS]), 1),
  numberOfClusters: opt(fc.integer({ min: 0, max: 5 }), 3),
  predicates: opt(fc.array(predicate, { maxLength: 2 })),
  prioritizerPolicy: opt(prioritizerPolicy),
  spreadPolicy: opt(fc.record({ spreadConstraints: fc.array(spreadConstraint, { maxLength: 2 }) }), 1),
  tolerations: opt(fc.array(toleration, { maxLength: 2 })),
  sortBy: opt(oneOf('ClusterName' as const, 'Score' as const), 1),
  decisionStrategy: opt(
    fc.record({
      groupStrategy: fc.record({
        clustersPerDecisionGroup: opt(oneOf<IntOrString>(1, 2, '50%', '33.3%', 'x')),
        decisionGroups: opt(
          fc.constant([
            { groupName: 'g', groupClusterSelector: { labelSelector: { matchLabels: { tier: 'gold' } } } },
          ]),
        ),
      }),
    }),
    1,
  ),
});

const annotations = oneOf<Record<string, string> | undefined>(
  ...Array.from({ length: 6 }, () => undefined),
  { [PREFER_NO_SELECT_ANNOTATION]: 'tie-break' },
  { [MISSING_SCORES_ANNOTATION]: 'worst' },
  { [MISSING_SCORES_ANNOTATION]: 'last' },
  { [MISSING_SCORES_ANNOTATION]: 'best' },
  { [`${GROUP}/experimental-scheduling-disable`]: 'true' },
);

/** The namespace follows from the name, so that a name means one placement. */
const placement = (name: fc.Arbitrary<string> = oneOf(...PLACEMENTS)): fc.Arbitrary<Placement> =>
  fc.record({ name, spec, annotations }).map((one) => ({
    apiVersion: `${GROUP}/v1beta1`,
    kind: 'Placement',
    metadata: { name: one.name, namespace: namespaceOf(one.name), annotations: one.annotations },
    spec: one.spec,
  }));

const namespaceOf = (placementName: string): string =>
  NAMESPACES[Number(placementName.slice(1)) % 2] as string;

const score: fc.Arbitrary<AddOnPlacementScore> = fc
  .record({
    cluster: oneOf(...CLUSTERS),
    value: fc.integer({ min: -100, max: 100 }),
    validUntil: opt(minute),
  })
  .map((one) => ({
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'AddOnPlacementScore',
    metadata: { name: 'load', namespace: one.cluster },
    status: { scores: [{ name: 'cpu', value: one.value }], validUntil: one.validUntil },
  }));

const clusterSets: fc.Arbitrary<ManagedClusterSet[]> = fc.subarray([...SETS], { minLength: 1 }).map((names) =>
  names.map((name) => ({
    apiVersion: `${GROUP}/v1beta2`,
    kind: 'ManagedClusterSet',
    metadata: { name },
    spec: name === 'all' ? { clusterSelector: { selectorType: 'LabelSelector', labelSelector: {} } } : {},
  })),
);

const bindings: fc.Arbitrary<ManagedClusterSetBinding[]> = fc
  .subarray(
    NAMESPACES.flatMap((namespace) => SETS.map((name) => ({ name, namespace }))),
    { minLength: 2 },
  )
  .map((all) =>
    all.map((metadata) => ({ apiVersion: `${GROUP}/v1beta2`, kind: 'ManagedClusterSetBinding', metadata })),
  );

const decision: fc.Arbitrary<PlacementDecision> = fc
  .record({ owner: opt(oneOf(...PLACEMENTS, 'gone'), 6), clusters: fc.subarray([...CLUSTERS, 'ghost']) })
  .map(({ owner, clusters }) => ({
    apiVersion: `${GROUP}/v1beta1`,
    kind: 'PlacementDecision',
    metadata: {
      name: 'decision',
      namespace: owner === undefined || owner === 'gone' ? 'x' : namespaceOf(owner),
      labels: owner === undefined ? {} : { [PLACEMENT_LABEL]: owner },
    },
    status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
  }));

const byName = <T extends { metadata: { name: string; namespace?: string | undefined } }>(
  items: readonly T[],
): T[] => [
  ...new Map(items.map((item) => [`${item.metadata.namespace}/${item.metadata.name}`, item])).values(),
];

export const snapshot: fc.Arbitrary<Snapshot> = fc.record({
  now: fc.integer({ min: -2, max: 2 }).map(minuteOf),
  placements: fc
    .tuple(...PLACEMENTS.slice(0, 3).map((name) => placement(oneOf(name))))
    .map((all) => [...all]),
  clusters: fc
    .subarray([...CLUSTERS], { minLength: 1 })
    .chain((names) => fc.tuple(...names.map((name) => cluster(oneOf(name)))).map((all) => [...all])),
  clusterSets,
  bindings,
  decisions: fc.array(decision, { maxLength: 3 }),
  scores: fc.array(score, { maxLength: 4 }).map(byName),
});

/** Amounts with few values, so that ties are the rule, and rarely one that nobody else has. */
const amount = fc.oneof(
  { weight: 8, arbitrary: oneOf('1', '2', '3', '4') },
  { weight: 1, arbitrary: oneOf('0', '2500m', '9', '1Ki') },
);

/** As a fleet has them: in a set, mostly without taints, rarely going away. */
const crowdCluster = (name: fc.Arbitrary<string>): fc.Arbitrary<ManagedCluster> =>
  fc
    .record({ one: cluster(name), cpu: amount, isOdd: fc.integer({ min: 0, max: 5 }).map((n) => n === 0) })
    .map(({ one, cpu, isOdd }) => {
      if (isOdd) return one;
      const { deletionTimestamp: _kept, ...metadata } = one.metadata;
      const labels = { ...metadata.labels, [`${GROUP}/clusterset`]: 's1' };
      const status = { ...one.status, allocatable: { cpu }, capacity: { cpu } };
      return { ...one, metadata: { ...metadata, labels }, spec: {}, status };
    });

const soundPolicy = fc.record({
  mode: oneOf('Additive', 'Exact'),
  configurations: fc.array(
    fc.record({
      scoreCoordinate,
      weight: oneOf(-2, 1, 2, 10),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

/** Mostly sound ones that select at large; the last keeps its random predicates. */
const crowdPlacement = (name: string): fc.Arbitrary<Placement> =>
  fc
    .record({
      one: placement(oneOf(name)),
      limit: opt(oneOf(0, 1, 3, 20, 47, 48, 100), 2),
      policy: soundPolicy,
      isOdd: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    })
    .map(({ one, limit, policy, isOdd }) => {
      const predicates = name === 'p3' ? one.spec?.predicates : undefined;
      const spec = { ...one.spec, clusterSets: undefined, numberOfClusters: limit, predicates };
      if (isOdd) return { ...one, spec };
      const sound = { spreadPolicy: undefined, tolerations: undefined, prioritizerPolicy: policy };
      return { ...one, metadata: { ...one.metadata, annotations: undefined }, spec: { ...spec, ...sound } };
    });

const crowdScore = fc
  .record({ one: score, cluster: oneOf(...CROWD), value: fc.integer({ min: -2, max: 2 }) })
  .map(
    ({ one, cluster: namespace, value }): AddOnPlacementScore => ({
      ...one,
      metadata: { ...one.metadata, namespace },
      status: { ...one.status, scores: [{ name: 'cpu', value: value * 50 }] },
    }),
  );

/** Few placements that select at large: what the engine brings up to date instead of ranking it again. */
export const crowdedSnapshot: fc.Arbitrary<Snapshot> = fc.record({
  now: fc.constant(minuteOf(0)),
  placements: fc.tuple(...PLACEMENTS.slice(0, 3).map(crowdPlacement)).map((all) => [...all]),
  clusters: fc.tuple(...CROWD.map((name) => crowdCluster(oneOf(name)))).map((all) => [...all]),
  clusterSets: fc.constant<ManagedClusterSet[]>([
    { apiVersion: `${GROUP}/v1beta2`, kind: 'ManagedClusterSet', metadata: { name: 's1' }, spec: {} },
  ]),
  bindings: fc.constant<ManagedClusterSetBinding[]>(
    NAMESPACES.map((namespace) => ({
      apiVersion: `${GROUP}/v1beta2`,
      kind: 'ManagedClusterSetBinding',
      metadata: { name: 's1', namespace },
    })),
  ),
  decisions: fc.array(decision, { maxLength: 1 }),
  scores: fc.array(crowdScore, { maxLength: 8 }).map(byName),
});

const crowdCame = crowdCluster(oneOf(...CROWD));

export const crowdDelta: fc.Arbitrary<SnapshotDelta> = fc.oneof(
  { weight: 8, arbitrary: crowdCame.map((one) => ({ clusters: [one] })) },
  {
    weight: 2,
    arbitrary: fc.record({ clusters: fc.array(crowdCame, { minLength: 2, maxLength: 12 }).map(byName) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ scores: fc.array(crowdScore, { minLength: 1, maxLength: 3 }).map(byName) }),
  },
  { weight: 1, arbitrary: oneOf(...CROWD).map((name) => ({ removedScores: [`${name}/load`] })) },
  { weight: 1, arbitrary: fc.record({ now: fc.integer({ min: 0, max: 8 }).map(minuteOf) }) },
  {
    weight: 1,
    arbitrary: oneOf(...PLACEMENTS)
      .chain(crowdPlacement)
      .map((one) => ({ placements: [one] })),
  },
  { weight: 1, arbitrary: oneOf(...CROWD).map((name) => ({ removedClusters: [name] })) },
);

/** What somebody else published for a placement instead of what was decided. */
export const published = fc.record({
  placement: oneOf(...PLACEMENTS),
  clusters: fc.subarray([...CLUSTERS, ...CROWD.slice(0, 6), 'ghost']),
});

/** Mostly one small change, as watches bring them. */
export const delta: fc.Arbitrary<SnapshotDelta> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ clusters: fc.array(cluster(), { minLength: 1, maxLength: 2 }).map(byName) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ removedClusters: fc.array(oneOf(...CLUSTERS), { minLength: 1, maxLength: 2 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ scores: fc.array(score, { minLength: 1, maxLength: 2 }).map(byName) }),
  },
  { weight: 1, arbitrary: oneOf(...CLUSTERS).map((name) => ({ removedScores: [`${name}/load`] })) },
  { weight: 3, arbitrary: fc.record({ now: fc.integer({ min: -1, max: 12 }).map(minuteOf) }) },
  { weight: 2, arbitrary: placement().map((one) => ({ placements: [one] })) },
  {
    weight: 1,
    arbitrary: oneOf(...PLACEMENTS).map((name) => ({ removedPlacements: [`${namespaceOf(name)}/${name}`] })),
  },
  { weight: 1, arbitrary: clusterSets.map((sets) => ({ clusterSets: sets })) },
  { weight: 1, arbitrary: bindings.map((all) => ({ bindings: all })) },
  {
    weight: 1,
    arbitrary: fc.record({
      now: fc.integer({ min: -1, max: 12 }).map(minuteOf),
      clusters: fc.array(cluster(), { maxLength: 2 }).map(byName),
      removedClusters: fc.array(oneOf(...CLUSTERS), { maxLength: 1 }),
      scores: fc.array(score, { maxLength: 1 }),
      placements: fc.array(placement(), { maxLength: 1 }),
    }),
  },
);

/** Names are unique on a hub. */
export function withUniqueNames(given: Snapshot): Snapshot {
  const unique = <
    T extends { readonly metadata: { readonly name: string; readonly namespace?: string | undefined } },
  >(
    list: readonly T[],
  ): readonly T[] => [
    ...new Map(list.map((one) => [`${one.metadata.namespace ?? ''}/${one.metadata.name}`, one])).values(),
  ];
  return {
    ...given,
    placements: unique(given.placements),
    clusters: unique(given.clusters),
    scores: unique(given.scores),
  };
}
