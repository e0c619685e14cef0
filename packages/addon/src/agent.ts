import { POD } from '@berth/kube/model/kinds';
import { findCondition } from '@berth/kube/model/condition-list';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import type { Condition } from '@berth/kube/model/object-meta';
import { probeHealth } from '@berth/kube/probe-server';
import { RenewedLease } from '@berth/kube/renewed-lease';
import type { Clock } from '@berth/runtime/clock/clock';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { errorText } from '@berth/runtime/errors';
import { type Logger, SILENT_LOG } from '@berth/runtime/logger';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep } from '@berth/runtime/loop/sleep';

/* What the agent of an add-on, which runs on a managed cluster, needs: its access to the hub, and a lease that says that it lives. */

export { hubClient } from './agent/hub-client.ts';
/** @public */
export type { HubClient, HubClientOptions, HubCredentials } from './agent/hub-client.ts';

/** Whether a part of the agent works. What it throws means no. @param signal aborts when nobody waits for the answer any more */
export type HealthCheck = (signal: AbortSignal) => Promise<boolean>;

export interface KeepLeaseOptions {
  /** The cluster that the agent runs on. An add-on in hosted mode has its lease on the hosting cluster. */
  readonly cluster: KubeApi;
  /** The name of the add-on, which is that of the lease. */
  readonly name: string;
  /** The namespace that the add-on is installed in. */
  readonly namespace: string;
  /** The lease is renewed only if all of them say yes. Default: none, so a process that runs is healthy. */
  readonly health?: readonly HealthCheck[] | undefined;
  /** Ends the renewals. The lease stays, so a restart goes unnoticed. */
  readonly signal: AbortSignal;
  /** Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** Uniform in [0, 1). Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Gets the reason while the lease is not renewed. Default: none. */
  readonly log?: Logger | undefined;
}

const RENEW_SECONDS = 60;
/** So that many agents that start together do not write together. */
const JITTER = 0.25;
/** An agent that is not healthy yet is asked again soon, so that a new add-on is available soon. */
const RETRY = { initialMs: 1_000, maxMs: RENEW_SECONDS * 1_000 };
const CHECK_LIMIT_MS = 30_000;

/**
 * Keeps the lease of an add-on, by which the cluster's agent tells the hub that the add-on is available. It is renewed
 * every minute; after five minutes without a renewal the hub says that the add-on is not available. Never rejects;
 * resolves when the signal aborts.
 * Source: open-cluster-management.io/addon-framework `pkg/lease/lease_controller.go`.
 */
export async function keepLease(options: KeepLeaseOptions): Promise<void> {
  const { cluster, name, namespace, signal } = options;
  const { clock = systemClock, random = Math.random, log = SILENT_LOG } = options;
  const created = { leaseDurationSeconds: RENEW_SECONDS };
  const lease = new RenewedLease(cluster, { namespace, name }, { clock, created });
  const backoff = new Backoff(RETRY, random);
  while (!signal.aborted) {
    let waitMs = RENEW_SECONDS * 1_000 * (1 + JITTER * random());
    const problem = await problemOf(options.health ?? [], clock, signal)
      .then(async (unhealthy) => unhealthy ?? (await lease.renew(), undefined))
      .catch(errorText);
    if (problem === undefined) backoff.reset();
    else {
      waitMs = backoff.nextMs();
      if (!signal.aborted) log.warn('the lease of the add-on is not renewed', { addon: name, problem });
    }
    await sleep(clock, waitMs, signal);
  }
}

/** Why the agent is not healthy; undefined: it is. */
async function problemOf(
  checks: readonly HealthCheck[],
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const check of checks) {
    const name = check.name || 'a health check';
    const over = new AbortController();
    const stop = AbortSignal.any([signal, over.signal]);
    const limit = sleep(clock, CHECK_LIMIT_MS, stop).then(() => `${name} has not answered for 30 s`);
    const answer = check(stop).then((isHealthy) => (isHealthy ? undefined : `${name} says no`));
    try {
      const problem = await Promise.race([answer, limit]);
      if (problem !== undefined) return problem;
    } finally {
      over.abort();
    }
  }
  return undefined;
}

/**
 * Whether one of the pods with these labels runs and is ready.
 * Source: addon-framework `pkg/lease/lease_controller.go` (CheckAddonPodFunc).
 */
export function podsRun(
  cluster: KubeApi,
  labels: Readonly<Record<string, string>>,
  namespace: string,
): HealthCheck {
  const labelSelector = Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
  return async function podsRun() {
    const { items } = await cluster.list(POD, { namespace, labelSelector });
    return items.some((pod) => {
      const { phase, conditions } = (pod['status'] ?? {}) as PodStatus;
      return phase === 'Running' && findCondition(conditions, 'Ready')?.status === 'True';
    });
  };
}

interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly Condition[];
}

/** Whether the API server of the cluster says that it is healthy: `/livez`, or `/healthz` where there is no `/livez`. */
export function apiServerAnswers(cluster: ServerEndpoints): HealthCheck {
  return async function apiServerAnswers() {
    return (await probeHealth(cluster)).kind === 'ok';
  };
}
