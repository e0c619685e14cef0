import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import { apiVersionOf, MANAGED_CLUSTER_SET_BINDING } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ClusterPredicate, Placement, PlacementSpec } from '@berth/ocm/kind/placement';
import { SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import { addSeconds, formatRfc3339, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import { withScore } from '../../snapshot/with-score.ts';
import type { PlacementRef, PredicatePart, SnapshotChange } from './snapshot-change.ts';

/**
 * The snapshot after the change; unchanged parts are shared. A change of an object that does not
 * exist has no effect.
 */
export function applySnapshotChange(snapshot: Snapshot, change: SnapshotChange): Snapshot {
  switch (change.kind) {
    case 'add-cluster':
    case 'remove-cluster':
    case 'set-label':
    case 'remove-label':
    case 'set-claim':
    case 'remove-claim':
    case 'add-taint':
    case 'remove-taint':
      return { ...snapshot, clusters: changeClusters(snapshot.clusters, change) };
    case 'set-score':
      return { ...snapshot, scores: setScore(snapshot.scores, change) };
    case 'bind-cluster-set':
      return bindClusterSet(snapshot, change);
    case 'pass-time':
      return { ...snapshot, now: passTime(snapshot.now, change.seconds) };
    default:
      return changePlacement(snapshot, change.placement, (placement) =>
        applyPlacementEdit(placement, change),
      );
  }
}

export function applySnapshotChanges(snapshot: Snapshot, changes: readonly SnapshotChange[]): Snapshot {
  return changes.reduce(applySnapshotChange, snapshot);
}

type ClusterChange = Extract<
  SnapshotChange,
  {
    kind:
      | 'add-cluster'
      | 'remove-cluster'
      | 'set-label'
      | 'remove-label'
      | 'set-claim'
      | 'remove-claim'
      | 'add-taint'
      | 'remove-taint';
  }
>;

function changeClusters(
  clusters: readonly ManagedCluster[],
  change: ClusterChange,
): readonly ManagedCluster[] {
  if (change.kind === 'add-cluster')
    return [
      ...clusters.filter((other) => other.metadata.name !== change.cluster.metadata.name),
      change.cluster,
    ];
  if (change.kind === 'remove-cluster')
    return clusters.filter(({ metadata }) => metadata.name !== change.cluster);
  return clusters.map((cluster) =>
    cluster.metadata.name === change.cluster ? applyClusterEdit(cluster, change) : cluster,
  );
}

export type ClusterEdit = Exclude<ClusterChange, { kind: 'add-cluster' | 'remove-cluster' }>;

/** One cluster after a change of its own labels, claims or taints. */
export function applyClusterEdit(cluster: ManagedCluster, change: ClusterEdit): ManagedCluster {
  switch (change.kind) {
    case 'set-label':
      return withLabels(cluster, { ...cluster.metadata.labels, [change.key]: change.value });
    case 'remove-label':
      return withLabels(cluster, without(cluster.metadata.labels ?? {}, change.key));
    case 'set-claim':
      return withClaims(cluster, change.name, change.value);
    case 'remove-claim':
      return withClaims(cluster, change.name, undefined);
    case 'add-taint': {
      const others = (cluster.spec?.taints ?? []).filter(
        ({ key, effect }) => key !== change.taint.key || effect !== change.taint.effect,
      );
      return { ...cluster, spec: { ...cluster.spec, taints: [...others, change.taint] } };
    }
    case 'remove-taint': {
      const kept = (cluster.spec?.taints ?? []).filter(
        ({ key, effect }) => key !== change.key || (change.effect !== undefined && effect !== change.effect),
      );
      return { ...cluster, spec: { ...cluster.spec, taints: kept } };
    }
  }
}

function withLabels(cluster: ManagedCluster, labels: Readonly<Record<string, string>>): ManagedCluster {
  return { ...cluster, metadata: { ...cluster.metadata, labels } };
}

function withClaims(cluster: ManagedCluster, name: string, value: string | undefined): ManagedCluster {
  const others = (cluster.status?.clusterClaims ?? []).filter((claim) => claim.name !== name);
  const clusterClaims = value === undefined ? others : [...others, { name, value }];
  return { ...cluster, status: { ...cluster.status, clusterClaims } };
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}

function setScore(
  scores: readonly AddOnPlacementScore[],
  change: Extract<SnapshotChange, { kind: 'set-score' }>,
): readonly AddOnPlacementScore[] {
  const { cluster, resourceName } = change;
  const isIt = (score: AddOnPlacementScore): boolean =>
    score.metadata.namespace === cluster && score.metadata.name === resourceName;
  return [...scores.filter((score) => !isIt(score)), withScore(scores.find(isIt), change)];
}

function bindClusterSet(
  snapshot: Snapshot,
  change: Extract<SnapshotChange, { kind: 'bind-cluster-set' }>,
): Snapshot {
  const { namespace, clusterSet } = change;
  const exists = snapshot.bindings.some(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === clusterSet,
  );
  if (exists) return snapshot;
  const binding = {
    apiVersion: apiVersionOf(MANAGED_CLUSTER_SET_BINDING),
    kind: 'ManagedClusterSetBinding' as const,
    metadata: { name: clusterSet, namespace },
    spec: { clusterSet },
  };
  return { ...snapshot, bindings: [...snapshot.bindings, binding] };
}

function passTime(now: string, seconds: number): string {
  const instant = parseRfc3339(now);
  return instant === undefined ? now : formatRfc3339(addSeconds(instant, seconds));
}

function changePlacement(
  snapshot: Snapshot,
  ref: PlacementRef,
  edit: (placement: Placement) => Placement,
): Snapshot {
  const placements = snapshot.placements.map((placement) =>
    placement.metadata.name === ref.name && (placement.metadata.namespace ?? '') === ref.namespace
      ? edit(placement)
      : placement,
  );
  return { ...snapshot, placements };
}

export type PlacementEdit = Extract<SnapshotChange, { readonly placement: PlacementRef }>;

/** One placement after a change of its own. */
export function applyPlacementEdit(placement: Placement, change: PlacementEdit): Placement {
  const { spec } = placement;
  switch (change.kind) {
    case 'set-number-of-clusters':
      return { ...placement, spec: { ...spec, numberOfClusters: change.numberOfClusters } };
    case 'add-toleration':
      return {
        ...placement,
        spec: { ...spec, tolerations: [...(spec?.tolerations ?? []), change.toleration] },
      };
    case 'add-cluster-set':
      return {
        ...placement,
        spec: { ...spec, clusterSets: [...(spec?.clusterSets ?? []), change.clusterSet] },
      };
    case 'drop-predicate-part':
      return {
        ...placement,
        spec: {
          ...spec,
          predicates: (spec?.predicates ?? []).map((predicate, i) =>
            i === change.part.predicate ? withoutPart(predicate, change.part) : predicate,
          ),
        },
      };
    case 'relax-spread':
      return {
        ...placement,
        spec: { ...spec, spreadPolicy: relaxed(spec?.spreadPolicy, change.topologyKey) },
      };
    case 'enable-scheduling': {
      const annotations = without(placement.metadata.annotations ?? {}, SCHEDULING_DISABLE_ANNOTATION);
      return { ...placement, metadata: { ...placement.metadata, annotations } };
    }
  }
}

function relaxed(policy: PlacementSpec['spreadPolicy'], topologyKey: string): PlacementSpec['spreadPolicy'] {
  const constraints = policy?.spreadConstraints?.map((constraint) =>
    constraint.topologyKey === topologyKey
      ? { ...constraint, whenUnsatisfiable: 'ScheduleAnyway' as const }
      : constraint,
  );
  return { ...policy, spreadConstraints: constraints };
}

function withoutPart(predicate: ClusterPredicate, { part, key }: PredicatePart): ClusterPredicate {
  const selector = predicate.requiredClusterSelector ?? {};
  switch (part) {
    case 'label': {
      const { matchLabels, matchExpressions } = selector.labelSelector ?? {};
      const labelSelector = {
        ...(matchLabels === undefined ? {} : { matchLabels: without(matchLabels, key) }),
        ...(matchExpressions === undefined
          ? {}
          : { matchExpressions: matchExpressions.filter((requirement) => requirement.key !== key) }),
      };
      return { requiredClusterSelector: { ...selector, labelSelector } };
    }
    case 'claim': {
      const kept = (selector.claimSelector?.matchExpressions ?? []).filter(
        (requirement) => requirement.key !== key,
      );
      return { requiredClusterSelector: { ...selector, claimSelector: { matchExpressions: kept } } };
    }
    case 'cel': {
      const kept = (selector.celSelector?.celExpressions ?? []).filter((expression) => expression !== key);
      return { requiredClusterSelector: { ...selector, celSelector: { celExpressions: kept } } };
    }
  }
}
