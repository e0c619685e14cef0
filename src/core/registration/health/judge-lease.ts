import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { compareInstants, epochMsOf, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { ACCEPTED, AVAILABLE, CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import { leaseSeconds, SKIP_CLOCK_CHECK_ANNOTATION } from '@berth/ocm/registration/names';

/** The last change of a Lease that this process observed, by its own clocks. */
export interface ObservedLease {
  readonly renewTime: string;
  /** Monotonic. */
  readonly atMs: number;
  /**
   * Wall clock minus `renewTime` when the change arrived. Undefined if it was no renewal: the first observation, or a
   * time before the last one, as after a restore of the hub.
   */
  readonly clockDifferenceMs: number | undefined;
}

export type LeaseVerdict =
  /** Not judged, because the hub has not decided about the cluster. */
  | { readonly kind: 'skip' }
  | { readonly kind: 'create-lease' }
  /** The agent is silent: the condition must be written, unless it is already set. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'alive'; readonly recheckAfterMs: number };

/** A cluster whose agent missed renewals, and which does not count as unreachable yet. */
export interface OverdueLease {
  readonly cluster: string;
  /** RFC 3339: when the cluster counts as unreachable if the agent stays silent. */
  readonly runsOutAt: string;
}

/** Agents renew once in a lease duration, or a quarter later. Who renewed nothing for this many is overdue. */
const OVERDUE_LEASES = 2;

/** The number of lease durations for which an agent may be silent. */
const GRACE_LEASES = 5;

/** The time for which an agent may be silent before its cluster counts as unreachable. */
export function graceSeconds(cluster: ManagedCluster): number {
  return GRACE_LEASES * leaseSeconds(cluster.spec?.leaseDurationSeconds);
}

/** The same, in milliseconds. */
export function graceMs(cluster: ManagedCluster): number {
  return graceSeconds(cluster) * 1000;
}

/**
 * Whether the agent of a cluster is alive. Unlike in OCM, the times in Leases are not compared with the hub's clock.
 * What counts is the time since this process last saw the Lease change, by a monotonic clock. After an outage of the
 * hub, each agent gets the full grace period from when the hub resumed.
 * Source of the grace and the order: open-cluster-management.io/ocm `pkg/registration/hub/lease/controller.go`.
 *
 * @param nowMs monotonic
 */
export function judgeLease(
  cluster: ManagedCluster,
  seen: ObservedLease | undefined,
  presence: HubPresence | undefined,
  nowMs: number,
): LeaseVerdict {
  if (findCondition(cluster.status?.conditions, ACCEPTED) === undefined) return { kind: 'skip' };
  if (seen === undefined)
    return cluster.metadata.deletionTimestamp === undefined ? { kind: 'create-lease' } : { kind: 'silent' };
  const grace = graceMs(cluster);
  if (presence?.sinceMs === undefined) return { kind: 'alive', recheckAfterMs: grace };
  const leftMs = Math.max(seen.atMs, presence.sinceMs) + grace - nowMs;
  return leftMs <= 0 ? { kind: 'silent' } : { kind: 'alive', recheckAfterMs: leftMs };
}

/**
 * Until when an overdue agent may stay silent, from now. Undefined: it is not overdue, or the hub knows it as silent.
 *
 * @param nowMs monotonic
 */
export function overdueMs(
  cluster: ManagedCluster,
  seen: ObservedLease | undefined,
  presence: HubPresence | undefined,
  nowMs: number,
): number | undefined {
  if (seen === undefined || isKnownSilent(cluster)) return undefined;
  const verdict = judgeLease(cluster, seen, presence, nowMs);
  if (verdict.kind !== 'alive' || presence?.sinceMs === undefined) return undefined;
  const silentMs = graceMs(cluster) - verdict.recheckAfterMs;
  const isOverdue = silentMs > OVERDUE_LEASES * leaseSeconds(cluster.spec?.leaseDurationSeconds) * 1000;
  return isOverdue ? verdict.recheckAfterMs : undefined;
}

/** `Unknown` is written once. A later report of the agent replaces it. */
export function isKnownSilent(cluster: ManagedCluster): boolean {
  return findCondition(cluster.status?.conditions, AVAILABLE)?.status === 'Unknown';
}

/**
 * Whether the clocks of agent and hub agree. Undefined if this is unknown now: no renewal was observed, or the hub
 * resumed so recently that a renewal may have waited for it.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/lease/clocksynccontroller.go`.
 *
 * @param nowMs monotonic
 */
export function judgeClock(
  cluster: ManagedCluster,
  seen: ObservedLease | undefined,
  presence: HubPresence | undefined,
  nowMs: number,
): Condition | undefined {
  if (findCondition(cluster.status?.conditions, ACCEPTED) === undefined) return undefined;
  if (seen?.clockDifferenceMs === undefined) return undefined;
  const isSkipped = cluster.metadata.annotations?.[SKIP_CLOCK_CHECK_ANNOTATION] === 'true';
  if (isSkipped || Math.abs(seen.clockDifferenceMs) < graceMs(cluster)) return CLUSTER_CONDITIONS.clockSynced;
  const sinceMs = presence?.sinceMs;
  const leaseMs = leaseSeconds(cluster.spec?.leaseDurationSeconds) * 1000;
  if (sinceMs === undefined || nowMs - sinceMs < leaseMs) return undefined;
  return CLUSTER_CONDITIONS.clockOutOfSync;
}

/**
 * @param wallMs when the lease arrived, milliseconds since the epoch
 * @param monotonicMs the same by the monotonic clock
 */
export function observeLease(
  before: ObservedLease | undefined,
  lease: KubeObject,
  { wallMs, monotonicMs }: { readonly wallMs: number; readonly monotonicMs: number },
): ObservedLease {
  const renewTime = renewTimeOf(lease);
  if (before?.renewTime === renewTime) return before;
  const [last, at] = [parseRfc3339(before?.renewTime ?? ''), parseRfc3339(renewTime)];
  const isRenewal = last !== undefined && at !== undefined && compareInstants(last, at) < 0;
  return {
    renewTime,
    atMs: monotonicMs,
    clockDifferenceMs: isRenewal ? wallMs - epochMsOf(at) : undefined,
  };
}

function renewTimeOf(lease: KubeObject): string {
  const { renewTime } = (lease['spec'] ?? {}) as { readonly renewTime?: unknown };
  return typeof renewTime === 'string' ? renewTime : '';
}

/** The result of one check of the clocks and of the watch of Leases. */
interface PresenceCheck {
  /** Wall clock, milliseconds since the epoch. */
  readonly wallMs: number;
  /** Monotonic clock, milliseconds. */
  readonly monotonicMs: number;
  /** The time since the machine started, sleep included, milliseconds. */
  readonly sinceBootMs: number;
  /** Whether this process currently receives the Leases that agents renew. */
  readonly receivesLeases: boolean;
  /**
   * Number of complete lists of Leases so far. Another list means that the watch lost its position, or that the hub was
   * restored.
   */
  readonly lists: number;
}

/**
 * Since when (monotonic) this process has observed the Leases without a gap. Undefined if it does not observe them now.
 */
export interface HubPresence {
  readonly last: PresenceCheck;
  readonly sinceMs: number | undefined;
}

/** Checks run every few seconds. A longer gap means that the process was paused, or that the machine slept. */
export const PRESENCE_CHECK_INTERVAL_MS = 2_000;
const MAX_GAP_MS = 10_000;

/**
 * Whether the hub observes its agents. No agent counts as silent while the hub cannot observe it: after a sleep, a
 * pause, a restart or a time without reading Leases, the time of every agent counts from when the hub resumed. The gap
 * is measured by three clocks: the monotonic clock stops while a machine sleeps, the wall clock may be set back by as much
 * when it wakes, and a container may see a time since the start that does not count sleep.
 */
export function continuePresence(before: HubPresence | undefined, check: PresenceCheck): HubPresence {
  if (!check.receivesLeases) return { last: check, sinceMs: undefined };
  const hadGap =
    before === undefined ||
    check.lists !== before.last.lists ||
    check.monotonicMs - before.last.monotonicMs > MAX_GAP_MS ||
    check.sinceBootMs - before.last.sinceBootMs > MAX_GAP_MS ||
    check.wallMs - before.last.wallMs > MAX_GAP_MS;
  return { last: check, sinceMs: hadGap ? check.monotonicMs : (before.sinceMs ?? check.monotonicMs) };
}
