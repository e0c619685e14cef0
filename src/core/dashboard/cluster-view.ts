import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { planFleet } from '../preview/planned-fleet.ts';
import type { TimelineStep } from '../timeline/timeline.ts';
import { type ClusterState, clusterState } from './fleet-view.ts';

/** What the screen of a cluster shows. Plain JSON. */
export interface ClusterView {
  readonly now: string;
  readonly name: string;
  readonly state: ClusterState;
  readonly sets: readonly string[];
  readonly region: string | undefined;
  /** `key=value:effect` */
  readonly taints: readonly string[];
  /** Placements that have it published. */
  readonly placements: readonly PlacementRef[];
  /** Only for those who see all clusters. */
  readonly details?: ClusterDetails | undefined;
  /** The newest first. */
  readonly steps: readonly TimelineStep[];
}

export interface ClusterDetails {
  readonly labels: Readonly<Record<string, string>>;
  readonly claims: Readonly<Record<string, string>>;
  readonly version: string;
  /** RFC 3339; undefined: not known. */
  readonly lastLease: string | undefined;
  /** `namespace/name` of the placement, or '' for a work of no replica set. */
  readonly works: readonly {
    readonly name: string;
    readonly placement: string;
    readonly applied: string;
    readonly available: string;
  }[];
  /** Undefined: Berth may not read them. */
  readonly addOns: readonly { readonly name: string; readonly state: string }[] | undefined;
}

/** What everybody may see who may see the cluster. */
export function clusterHead(
  cluster: ManagedCluster,
  snapshot: Snapshot,
): Pick<ClusterView, 'now' | 'name' | 'state' | 'sets' | 'region' | 'taints'> {
  const only = { ...snapshot, clusters: [cluster] };
  const [{ sets = [], region } = {}] = planFleet(only, only);
  return {
    ...{ now: snapshot.now, name: cluster.metadata.name, state: clusterState(cluster), sets, region },
    taints: (cluster.spec?.taints ?? []).map(
      ({ key, value = '', effect }) => `${key}${value === '' ? '' : `=${value}`}:${effect}`,
    ),
  };
}

/** What only those see who see everything: labels and claims may say whose a cluster is. */
export function clusterLabels({
  metadata,
  status,
}: ManagedCluster): Pick<ClusterDetails, 'labels' | 'claims' | 'version'> {
  return {
    labels: metadata.labels ?? {},
    claims: Object.fromEntries((status?.clusterClaims ?? []).map(({ name, value }) => [name, value])),
    version: status?.version?.kubernetes ?? '',
  };
}
