import { findCondition } from '@berth/kube/model/condition-list';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement } from '@berth/ocm/kind/placement';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { placementProblem } from '../listing/list-placements.ts';
import { planFleet } from '../preview/planned-fleet.ts';
import { activeHold } from '../publish/approval/approval-code.ts';
import { isHealthTaint } from '../registration/health/health-taints.ts';
import { seesNamespace, type Sight, visibleClusters } from './sight.ts';

/** What the screen of the fleet shows. Plain JSON. */
export interface FleetView {
  /** RFC 3339. */
  readonly now: string;
  /** The names that clusters and placements refer to by number. */
  readonly sets: readonly string[];
  readonly regions: readonly string[];
  /** By name. Short, because there may be ten thousand. */
  readonly clusters: readonly FleetSquare[];
  /** By namespace and name. */
  readonly placements: readonly FleetPlacement[];
}

/** A cluster: its name, the number of its first set and of its region (−1: none), and its state. */
export type FleetSquare = readonly [name: string, set: number, region: number, state: ClusterState];

/** The first that is true of a cluster, in this order. */
export type ClusterState = 'leaving' | 'not accepted' | 'unavailable' | 'unknown' | 'tainted' | 'available';

export interface FleetPlacement {
  readonly namespace: string;
  readonly name: string;
  /** How many clusters are published. */
  readonly clusters: number;
  /** How many it asks for; null: every cluster that matches. */
  readonly wanted: number | null;
  /** The reason of the hold; '' without one. */
  readonly held: string;
  /** Why it does not have what it asks for; '' if it has. */
  readonly problem: string;
}

/** @param publishedCount how many clusters are published for a placement (`namespace/name`) */
export function fleetView(
  snapshot: Snapshot,
  publishedCount: (placement: string) => number,
  sight: Sight,
): FleetView {
  const isVisible = visibleClusters(snapshot, sight);
  const [sets, regions] = [new Numbers(), new Numbers()];
  const byName = new Map(snapshot.clusters.map((cluster) => [cluster.metadata.name, cluster]));
  const clusters = planFleet(snapshot, snapshot)
    .filter(({ name }) => isVisible(name))
    .map(({ name, sets: [set], region }): FleetSquare => {
      const cluster = byName.get(name);
      return [
        name,
        sets.of(set),
        regions.of(region),
        cluster === undefined ? 'unknown' : clusterState(cluster),
      ];
    });
  return {
    now: snapshot.now,
    sets: sets.names,
    regions: regions.names,
    clusters,
    placements: snapshot.placements
      .filter(({ metadata }) => seesNamespace(sight, metadata.namespace ?? ''))
      .map((placement) => fleetPlacement(placement, publishedCount)),
  };
}

function fleetPlacement(placement: Placement, publishedCount: (placement: string) => number): FleetPlacement {
  const { metadata, spec, status } = placement;
  const namespace = metadata.namespace ?? '';
  return {
    ...{ namespace, name: metadata.name },
    clusters: publishedCount(`${namespace}/${metadata.name}`),
    wanted: spec?.numberOfClusters ?? null,
    held: activeHold(placement)?.reason ?? '',
    problem: placementProblem(status?.conditions),
  };
}

export function clusterState({ metadata, spec, status }: ManagedCluster): ClusterState {
  if (metadata.deletionTimestamp !== undefined) return 'leaving';
  if (spec?.hubAcceptsClient !== true) return 'not accepted';
  const available = findCondition(status?.conditions, AVAILABLE)?.status;
  if (available === 'False') return 'unavailable';
  if (available !== 'True') return 'unknown';
  return (spec.taints ?? []).some((taint) => !isHealthTaint(taint)) ? 'tainted' : 'available';
}

/** Numbers names in the order in which they appear. */
class Numbers {
  readonly #numbers = new Map<string, number>();

  get names(): readonly string[] {
    return [...this.#numbers.keys()];
  }

  of(name: string | undefined): number {
    if (name === undefined) return -1;
    const number = this.#numbers.get(name) ?? this.#numbers.size;
    this.#numbers.set(name, number);
    return number;
  }
}
