import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import { findCondition, setCondition } from '@berth/kube/model/condition-list';
import { MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Logger } from '@berth/runtime/logger';
import { DONE, type ReconcileOutcome, runReconciler } from '@berth/runtime/loop/reconciler';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import { CLUSTER_GATEWAYS } from '../addon/cluster-gateway.ts';
import { MANAGED_SERVICE_ACCOUNT } from '../addon/managed-serviceaccount.ts';
import type { Gateway } from '../rules/cluster-gateway.ts';
import { clusterRequest } from './cluster-request.ts';
import type { Gateways } from './gateways.ts';

/** As OCM's manager asks for tokens: 180 days. */
const VALIDITY = '4320h0m0s';
const PROBE_TIMEOUT_MS = 10_000;
const PROBE_AGAIN_MS = 30_000;

export interface GatewayAddOnsOptions {
  readonly hub: KubeApi;
  readonly gateways: Gateways;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Gives each cluster with the add-on an account, asks through its gateway whether the cluster is healthy, and says so: on the gateway and
 * in the condition Available. Source: cluster-gateway 1.9.1 `pkg/addon/controllers/installer.go`, `health.go`. Resolves after the signal.
 */
export async function runGatewayAddOns(options: GatewayAddOnsOptions, signal: AbortSignal): Promise<void> {
  const { gateways, clock, random, log } = options;
  const queue = new WorkQueue(clock);
  gateways.onChange((cluster) => queue.add(cluster));
  const loop = { clock, random, log, name: 'cluster gateways', queue, concurrency: 4 };
  await runReconciler(
    {
      ...loop,
      isRetryable: mayBeAllowedLater,
      mayBegin: (stop) => gateways.whenRead(stop),
      reconcile: (cluster) => reconcile(cluster, options),
    },
    signal,
  );
}

async function reconcile(cluster: string, options: GatewayAddOnsOptions): Promise<ReconcileOutcome> {
  const { hub, gateways, log } = options;
  const addOn = gateways.addOnOf(cluster);
  if (addOn === undefined) return DONE;
  await createIfAbsent(hub, MANAGED_SERVICE_ACCOUNT, accountOf(addOn));
  const found = gateways.get(cluster);
  const problem = found?.ok === true ? await probe(found.value, gateways) : undefined;
  if (found?.ok === true) {
    const health = {
      healthy: problem === undefined,
      ...(problem !== undefined && { healthyReason: problem }),
    };
    if (!jsonEqual(health, found.value.health)) {
      log.info('the health of a cluster has changed', { cluster, ...health });
      await gateways.noteHealth(found.value, health);
    }
  }
  await noteAvailable(addOn, verdict(found, problem), options);
  return { kind: 'requeue', afterMs: PROBE_AGAIN_MS };
}

type Verdict = Pick<Condition, 'status' | 'reason' | 'message'>;

/** Reasons and messages of the first two are OCM's. */
function verdict(found: ReturnType<Gateways['get']>, problem: string | undefined): Verdict {
  if (found?.ok !== true)
    return { status: 'Unknown', reason: 'NoGateway', message: found?.error ?? 'there is no gateway' };
  return problem === undefined
    ? { status: 'True', reason: 'SuccessfullyProbedHealthz', message: 'Returned OK' }
    : { status: 'False', reason: 'FailedProbingHealthz', message: problem };
}

/** It goes with the add-on. */
function accountOf({
  apiVersion,
  kind,
  metadata: { namespace = '', name, uid = '' },
}: KubeObject): KubeObject {
  return {
    ...{
      apiVersion: 'authentication.open-cluster-management.io/v1beta1',
      kind: MANAGED_SERVICE_ACCOUNT.kind,
    },
    metadata: {
      ...{ namespace, name: CLUSTER_GATEWAYS },
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    spec: { rotation: { validity: VALIDITY } },
  };
}

/** @returns why the cluster is not healthy; undefined: it is */
async function probe(gateway: Gateway, gateways: Gateways): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    const options = clusterRequest(gateway, '/healthz', gateways.userServer());
    const request = https.get({ ...options, agent: false, signal });
    const [response] = (await once(request, 'response', { signal })) as [IncomingMessage];
    let text = '';
    for await (const part of response as AsyncIterable<Buffer>)
      text = (text + part.toString()).slice(0, 1_024);
    if (response.statusCode === 200 && text === 'ok') return undefined;
    return messageIn(text) ?? `the cluster answers ${response.statusCode}`;
  } catch (error) {
    return errorText(error);
  }
}

function messageIn(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}

async function noteAvailable(
  addOn: KubeObject,
  available: Verdict,
  { hub, clock }: GatewayAddOnsOptions,
): Promise<void> {
  const { conditions = [] } = (addOn['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
  const { status, reason, message } = findCondition(conditions, 'Available') ?? {};
  if (jsonEqual({ status, reason, message }, available)) return;
  const now = formatRfc3339(instantFromEpochMs(clock.now()));
  const changed = setCondition(conditions, { type: 'Available', ...available }, now);
  const { namespace = '', name, resourceVersion } = addOn.metadata;
  // Others write conditions, too.
  const patch = { metadata: { resourceVersion }, status: { conditions: changed } };
  await hub.mergePatch(MANAGED_CLUSTER_ADDON, { namespace, name }, patch, { subresource: 'status' });
}
