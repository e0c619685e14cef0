import { apiVersionOf, LEASE, MANAGED_CLUSTER, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Logger } from '@berth/runtime/logger';
import { sleep } from '@berth/runtime/loop/sleep';
import { CONTROLLER_LEASES } from '../inventory/schedulable-placement.ts';
import { type Installer, isInstalledBy } from '../../core/registration/install/installed-object.ts';
import {
  CLUSTER_MANAGER,
  CLUSTER_MANAGER_NAME,
  KLUSTERLET,
  KLUSTERLET_NAME,
  klusterletNews,
  managerNews,
  withNews,
} from '../../core/registration/install/operator-objects.ts';

export interface OperatorStatusOptions {
  readonly hub: KubeApi;
  /** Members that `berth join` may have joined to the hub. */
  readonly members: readonly KubeApi[];
  readonly clock: Clock;
  readonly log: Logger;
}

const INTERVAL_MS = 5_000;
/** Many members are looked at less often. */
const PER_MEMBER_MS = 50;

/** Keeps the status of the ClusterManager of an embedded hub and of the Klusterlets of its members, until the signal. */
export async function keepOperatorStatus(options: OperatorStatusOptions, signal: AbortSignal): Promise<void> {
  const { hub, members, clock, log } = options;
  const nowMs = (): number => clock.now();
  const look = async (what: Looked): Promise<void> => {
    try {
      await keepStatus(what, nowMs);
    } catch (error) {
      if (!signal.aborted) log.debug('a status is not written', { problem: errorText(error) });
    }
  };
  while (!signal.aborted) {
    await look({
      ...{ api: hub, kind: CLUSTER_MANAGER, name: CLUSTER_MANAGER_NAME, installer: 'init' },
      news: async () => managerNews((await hub.list(LEASE, CONTROLLER_LEASES)).items, nowMs()),
    });
    for (const api of members)
      await look({
        ...{ api, kind: KLUSTERLET, name: KLUSTERLET_NAME, installer: 'join' },
        news: async ({ spec }) =>
          klusterletNews(await readCluster(hub, spec as { readonly clusterName?: string })),
      });
    await sleep(clock, Math.max(INTERVAL_MS, members.length * PER_MEMBER_MS), signal);
  }
}

interface Looked {
  readonly api: KubeApi;
  readonly kind: KindInfo;
  readonly name: string;
  readonly installer: Installer;
  readonly news: (object: KubeObject) => Promise<ReturnType<typeof managerNews>>;
}

async function keepStatus({ api, kind, name, installer, news }: Looked, nowMs: () => number): Promise<void> {
  const key = { namespace: '', name };
  if ((await api.resolve(apiVersionOf(kind), kind.kind)) === undefined) return;
  const object = await api.get(kind, key);
  if (object === undefined || !isInstalledBy(object, installer)) return;
  const status = object['status'] as { readonly conditions?: readonly Condition[] } | undefined;
  const before = status?.conditions ?? [];
  const now = formatRfc3339(instantFromEpochMs(Math.floor(nowMs() / 1_000) * 1_000));
  const conditions = withNews(before, await news(object), now);
  if (jsonEqual(conditions, before)) return;
  const { uid, generation } = object.metadata;
  const patch = { metadata: { uid }, status: { conditions, observedGeneration: generation } };
  await api.mergePatch(kind, key, patch, { subresource: 'status' });
}

async function readCluster(
  hub: KubeApi,
  { clusterName: name = '' }: { readonly clusterName?: string } = {},
): Promise<ManagedCluster | undefined> {
  return (await hub.get(MANAGED_CLUSTER, { namespace: '', name })) as ManagedCluster | undefined;
}
