import {
  ADDON_PLACEMENT_SCORE,
  apiVersionOf,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  PLACEMENT_DECISION,
  typeKeyOf,
} from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import type { Placement, PrioritizerConfig } from '@berth/ocm/kind/placement';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { groupBy } from '@berth/runtime/lists/group-by';
import { oncePerList } from '@berth/runtime/lists/once-per-list';
import { compareText } from '@berth/runtime/text/compare-text';

/**
 * The snapshot of a fleet without a hub: recorded status (claims, resources, scores, decisions) is
 * used unchanged, absent fields get the defaults of a hub. Placements are in the order of their
 * names, as for a controller that starts on an empty hub.
 */
export function snapshotOfObjects(
  objects: readonly Pick<SourceObject, 'object'>[],
  options: { readonly now: string },
): Snapshot {
  const fleet = objectsByType(objects);
  const ofKind = <T>(kind: KindInfo): readonly T[] =>
    (fleet.get(typeKeyOf(kind)) ?? []) as unknown as readonly T[];
  return {
    now: options.now,
    placements: ofKind<Placement>(PLACEMENT).map(defaultPlacement).sort(byName),
    clusters: ofKind<ManagedCluster>(MANAGED_CLUSTER).map((cluster) => stampTaintTimes(cluster, options.now)),
    clusterSets: ofKind<ManagedClusterSet>(MANAGED_CLUSTER_SET),
    bindings: ofKind<ManagedClusterSetBinding>(MANAGED_CLUSTER_SET_BINDING),
    decisions: ofKind<PlacementDecision>(PLACEMENT_DECISION),
    scores: ofKind<AddOnPlacementScore>(ADDON_PLACEMENT_SCORE),
  };
}

/** A snapshot that is read from a hub, as far as it has these. */
type DecisionInputs = Pick<Snapshot, 'placements' | 'clusters' | 'clusterSets' | 'bindings' | 'scores'>;

/**
 * The inputs of decisions in a snapshot as objects, with their kinds, which items of a list from a hub do not have.
 * @param isWanted whether an object with this metadata is returned
 */
export function objectsOfSnapshot(
  snapshot: DecisionInputs,
  isWanted: (metadata: ObjectMeta) => boolean,
): readonly KubeObject[] {
  const kinds = [
    [PLACEMENT, snapshot.placements],
    [MANAGED_CLUSTER, snapshot.clusters],
    [MANAGED_CLUSTER_SET, snapshot.clusterSets],
    [MANAGED_CLUSTER_SET_BINDING, snapshot.bindings],
    [ADDON_PLACEMENT_SCORE, snapshot.scores],
  ] as const;
  return kinds.flatMap(([kind, objects]) =>
    objects
      .filter(({ metadata }) => isWanted(metadata))
      .map((object) => ({ ...object, apiVersion: apiVersionOf(kind), kind: kind.kind })),
  );
}

const objectsByType = oncePerList((sources: readonly Pick<SourceObject, 'object'>[]) =>
  groupBy(
    sources.map(({ object }) => object),
    ({ apiVersion, kind }) => `${apiVersion} ${kind}`,
  ),
);

function byName(a: Placement, b: Placement): number {
  return compareText(
    `${a.metadata.namespace}/${a.metadata.name}`,
    `${b.metadata.namespace}/${b.metadata.name}`,
  );
}

/** The same placement is the same object in each plan, so that it is not decided again. */
const DEFAULTED = new WeakMap<Placement, Placement>();

/**
 * The defaults of OCM's custom resource definitions that change a decision: a hub fills them in on write, so a plan from
 * Git must too. Defaults that mean the same as an absent field are not added.
 */
function defaultPlacement(placement: Placement): Placement {
  const policy = placement.spec?.prioritizerPolicy;
  if (policy?.configurations === undefined) return placement;
  let defaulted = DEFAULTED.get(placement);
  if (defaulted === undefined) {
    const configurations = policy.configurations.map(defaultedConfig);
    defaulted = {
      ...placement,
      spec: { ...placement.spec, prioritizerPolicy: { ...policy, configurations } },
    };
    DEFAULTED.set(placement, defaulted);
  }
  return defaulted;
}

function defaultedConfig(config: PrioritizerConfig): PrioritizerConfig {
  const { scoreCoordinate } = config;
  return {
    ...config,
    weight: config.weight ?? 1,
    scoreCoordinate: scoreCoordinate && { ...scoreCoordinate, type: scoreCoordinate.type ?? 'BuiltIn' },
  };
}

/** A hub stamps a taint when it is added; one that is in Git without a time counts as added at `now`. */
function stampTaintTimes(cluster: ManagedCluster, now: string): ManagedCluster {
  const taints = cluster.spec?.taints;
  if (taints === undefined || taints.every((taint) => taint.timeAdded != null)) return cluster;
  const stamped = taints.map((taint) => (taint.timeAdded == null ? { ...taint, timeAdded: now } : taint));
  return { ...cluster, spec: { ...cluster.spec, taints: stamped } };
}
