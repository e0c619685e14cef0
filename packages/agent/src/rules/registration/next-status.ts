import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import type { Condition } from '@berth/kube/model/object-meta';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from '@berth/kube/model/quantity';
import type { HealthProbe } from '@berth/kube/probe-server';
import type {
  ClusterClaimValue,
  ManagedCluster,
  ManagedNamespaceStatus,
} from '@berth/ocm/kind/managed-cluster';
import {
  ACCEPTED,
  apiServerDown,
  CLOCK_SYNCED,
  CLUSTER_CONDITIONS,
} from '@berth/ocm/registration/cluster-conditions';
import { jsonEqual } from '@berth/runtime/json/json-equal';

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

/** The time since which the probes fail; undefined if the last one succeeded. */
export interface HealthMemory {
  readonly failingSinceMs: number | undefined;
}

export type HealthVerdict =
  | { readonly kind: 'ok' }
  /** The probe failed, but not long enough to be reported. The previous report stays. */
  | { readonly kind: 'undecided' }
  | { readonly kind: 'down'; readonly why: string };

/** Shorter failures are not reported. */
const HEALTH_TOLERANCE_MS = 20_000;
/**
 * The interval of probes during a failure. It is short, so that the end of an outage is reported as soon as its start.
 */
export const HEALTH_RECHECK_MS = 5_000;

/**
 * Judges one probe, given the earlier ones.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/available_reconcile.go`.
 * @param nowMs by a monotonic clock
 */
export function judgeHealth(
  memory: HealthMemory,
  probe: HealthProbe,
  nowMs: number,
): { readonly memory: HealthMemory; readonly verdict: HealthVerdict } {
  if (probe.kind === 'ok') return { memory: { failingSinceMs: undefined }, verdict: { kind: 'ok' } };
  const failingSinceMs = memory.failingSinceMs ?? nowMs;
  const isLong = nowMs - failingSinceMs >= HEALTH_TOLERANCE_MS;
  return {
    memory: { failingSinceMs },
    verdict: isLong ? { kind: 'down', why: probe.why } : { kind: 'undecided' },
  };
}

/** The fields of a core/v1 Node that are counted. */
export interface NodeResources {
  readonly spec?: { readonly unschedulable?: boolean | undefined } | undefined;
  readonly status?:
    | { readonly capacity?: ResourceList | undefined; readonly allocatable?: ResourceList | undefined }
    | undefined;
}

export type ResourceList = Readonly<Record<string, string | number>>;

interface ClusterResources {
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
}

/**
 * The capacity of the nodes, and the part that workloads may use. Nodes that accept no new pods count only for the
 * capacity. A resource that no node has keeps the value that another program reported.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/resource_reconcile.go`.
 */
export function clusterResources(
  nodes: readonly NodeResources[],
  reported: { readonly [Field in keyof ClusterResources]?: ResourceList | undefined },
): ClusterResources {
  const schedulable = nodes.filter(({ spec }) => spec?.unschedulable !== true);
  return {
    capacity: merged(
      nodes.map(({ status }) => status?.capacity),
      reported.capacity,
    ),
    allocatable: merged(
      schedulable.map(({ status }) => status?.allocatable),
      reported.allocatable,
    ),
  };
}

function merged(lists: readonly (ResourceList | undefined)[], reported: ResourceList = {}): ResourceList {
  const result: Record<string, string | number> = { ...reported };
  for (const [name, quantity] of sums(lists)) {
    const before = parseQuantity(reported[name] ?? '');
    // Another notation of the same amount is not a change.
    if (before === undefined || compareQuantities(before, quantity) !== 0)
      result[name] = formatQuantity(quantity);
  }
  return result;
}

/** An amount that cannot be read counts as absent. */
export function sums(lists: readonly (ResourceList | undefined)[]): ReadonlyMap<string, Quantity> {
  const total = new Map<string, Quantity>();
  for (const list of lists)
    for (const [name, value] of Object.entries(list ?? {})) {
      const quantity = parseQuantity(value);
      if (quantity === undefined) continue;
      const before = total.get(name);
      total.set(name, before === undefined ? quantity : addQuantities(before, quantity));
    }
  return total;
}
