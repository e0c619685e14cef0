import { createAddOnManager } from '@berth/addon';
import { Reflector } from '@berth/kube/cache/reflector';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import { CLUSTER_MANAGEMENT_ADDON } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import type { SleepingClock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { DONE, runReconciler } from '@berth/runtime/loop/reconciler';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import {
  MANAGED_SERVICE_ACCOUNT,
  type ManagedServiceAccount,
  managedServiceAccounts,
  managedServiceAccountsAddOn,
} from '../addon/managed-serviceaccount.ts';
import { ClusterProfiles } from './cluster-profiles.ts';

export interface AccountManagerOptions {
  readonly hub: KubeApi;
  /** Of the agent's container. */
  readonly image: string;
  /** With it, ClusterProfiles are written; the namespace is that of the user server's ConfigMap. */
  readonly profiles?: { readonly namespace: string } | undefined;
  readonly clock: SleepingClock;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * The hub's side of the add-on managed-serviceaccount: brings its agent to clusters, and deletes accounts whose time is over. Resolves after
 * the signal.
 * @throws the errors of the API
 */
export async function runAccountManager(options: AccountManagerOptions): Promise<void> {
  const { hub, image, profiles, clock, random, log, signal } = options;
  const addOns = [managedServiceAccounts({ image })];
  const manager = createAddOnManager({ addOns, hub, clock, random, log });
  await createIfAbsent(hub, CLUSTER_MANAGEMENT_ADDON, managedServiceAccountsAddOn());
  await Promise.all([
    manager.run(signal),
    deleteExpired(options),
    ...(profiles === undefined ? [] : [new ClusterProfiles({ ...options, ...profiles }).run()]),
  ]);
}

/** Source of the rule: managed-serviceaccount 0.10.0 `pkg/addon/commoncontroller/ephemeral_identity_controller.go`. */
async function deleteExpired({ hub, clock, random, log, signal }: AccountManagerOptions): Promise<void> {
  const kind = MANAGED_SERVICE_ACCOUNT;
  const accounts = new Reflector({ api: hub, kind, clock, random, log });
  const queue = new WorkQueue(clock);
  accounts.store.onChange(({ key }) => queue.add(key));
  const reconcile = async (key: string) => {
    const { metadata, spec } = (accounts.store.get(key) ?? {}) as Partial<ManagedServiceAccount>;
    const seconds = spec?.ttlSecondsAfterCreation;
    if (metadata === undefined || seconds === undefined) return DONE;
    const { namespace = '', name, uid, creationTimestamp } = metadata;
    const leftMs = Date.parse(creationTimestamp ?? '') + seconds * 1_000 - clock.now();
    if (leftMs > 0) return { kind: 'requeue', afterMs: leftMs } as const;
    await hub.delete(kind, { namespace, name }, { uid });
    log.info('the time of a ManagedServiceAccount is over', { account: key });
    return DONE;
  };
  const loop = { clock, random, log, name: 'expired accounts', queue, concurrency: 1, reconcile };
  await Promise.all([
    accounts.run(signal),
    runReconciler({ ...loop, isRetryable: mayBeAllowedLater }, signal),
  ]);
}
