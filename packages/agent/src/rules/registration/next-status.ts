import { jsonEqual } from '@berth/runtime/json/json-equal';
import type {
  ClusterClaimValue,
  ManagedCluster,
  ManagedNamespaceStatus,
} from '@berth/ocm/kind/managed-cluster';
import type { Condition } from '@berth/kube/model/object-meta';
import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import {
  ACCEPTED,
  apiServerDown,
  CLOCK_SYNCED,
  CLUSTER_CONDITIONS,
} from '@berth/ocm/registration/cluster-conditions';
import { clusterResources, type NodeResources } from './cluster-resources.ts';
import type { HealthVerdict } from './judge-health.ts';

/** What an agent reads of its cluster. An absent field could not be read, and keeps its reported value. */
export interface ClusterObservation {
  readonly health: HealthVerdict;
  readonly kubernetesVersion?: string | undefined;
  readonly nodes?: readonly NodeResources[] | undefined;
  readonly claims?: readonly ClusterClaimValue[] | undefined;
  readonly managedNamespaces?: readonly ManagedNamespaceStatus[] | undefined;
  /** The condition about the last renewal of the certificate. */
  readonly certificate?: Condition | undefined;
}

type Status = NonNullable<ManagedCluster['status']>;

/** Whether the hub accepted the cluster, as the hub reports it. */
export function isAccepted(cluster: ManagedCluster): boolean {
  return findCondition(cluster.status?.conditions, ACCEPTED)?.status === 'True';
}

/**
 * The fields of the status that the agent must change; undefined if there are none. A cluster that is not accepted
 * reports nothing. A cluster whose API server is down reports only that. A cluster whose clock is not synchronized
 * reports nothing.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/status_controller.go` and its reconcilers.
 * @param now RFC 3339, seconds
 */
export function nextStatus(
  cluster: ManagedCluster,
  seen: ClusterObservation,
  now: string,
): Partial<Status> | undefined {
  if (!isAccepted(cluster)) return undefined;
  const before = cluster.status ?? {};
  if (findCondition(before.conditions, CLOCK_SYNCED)?.status === 'False') return undefined;
  const wanted = wantedStatus(before, seen, now);
  const changed = Object.entries(wanted).filter(
    ([field, value]) => value !== undefined && !jsonEqual(value, before[field as keyof Status]),
  );
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

function wantedStatus(before: Status, seen: ClusterObservation, now: string): Partial<Status> {
  const { health, kubernetesVersion, nodes, claims, managedNamespaces, certificate } = seen;
  const current: readonly (Condition | undefined)[] = [
    CLUSTER_CONDITIONS.joined,
    availability(health),
    certificate,
  ];
  const conditions = current.reduce<readonly Condition[]>(
    (list, condition) => (condition === undefined ? list : setCondition(list, condition, now)),
    before.conditions ?? [],
  );
  if (health.kind === 'down') return { conditions };
  return {
    conditions,
    ...(kubernetesVersion !== undefined && {
      version: { ...before.version, kubernetes: kubernetesVersion },
    }),
    ...(nodes !== undefined && nonEmpty(clusterResources(nodes, before))),
    ...(claims !== undefined &&
      (claims.length > 0 || before.clusterClaims !== undefined) && { clusterClaims: claims }),
    ...(managedNamespaces !== undefined && managedNamespaces.length > 0 && { managedNamespaces }),
  };
}

function availability(health: HealthVerdict): Condition | undefined {
  switch (health.kind) {
    case 'ok':
      return CLUSTER_CONDITIONS.available;
    case 'undecided':
      return undefined;
    case 'down':
      return apiServerDown(health.why);
  }
}

/** An empty map is not written if the field is absent. */
function nonEmpty({ capacity, allocatable }: ReturnType<typeof clusterResources>): Partial<Status> {
  return {
    ...(Object.keys(capacity).length > 0 && { capacity }),
    ...(Object.keys(allocatable).length > 0 && { allocatable }),
  };
}
