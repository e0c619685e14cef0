import { hubClient, keepLease } from '@berth/addon/agent';
import { Reflector } from '@berth/kube/cache/reflector';
import type { KubeConfig } from '@berth/kube/config/kube-config';
import { type KindInfo, SECRET, SERVICE_ACCOUNT } from '@berth/kube/model/kinds';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import type { Clock } from '@berth/runtime/clock/clock';
import { InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { runReconciler } from '@berth/runtime/loop/reconciler';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import {
  accountAgentSecret,
  MANAGED_LABEL,
  MANAGED_SERVICE_ACCOUNT,
  MANAGED_SERVICE_ACCOUNTS,
} from '../addon/managed-serviceaccount.ts';
import { AccountKeeper } from './account-keeper.ts';

export interface AccountAgentOptions {
  /** The API server of the cluster, with the agent's account. */
  readonly cluster: KubeApi;
  /** Of the same; its certificate authority goes into the Secrets on the hub. */
  readonly config: Pick<KubeConfig, 'credentials'>;
  /** In which the add-on is installed, and the accounts are. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const AT_ONCE = 4;

/**
 * The agent of the add-on managed-serviceaccount on a cluster: keeps an account for each ManagedServiceAccount in the cluster's namespace
 * of the hub. It waits for its access to the hub. Resolves after the signal.
 */
export async function runAccountAgent(options: AccountAgentOptions): Promise<void> {
  const { cluster, config, namespace, clock, random, log, signal } = options;
  const from = { cluster, namespace, name: accountAgentSecret() };
  const access = await hubClient({ from, signal, clock, log }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (access === undefined) return;
  const { hub, clusterName } = access;
  if (clusterName === undefined)
    throw new InputError('does not say which cluster this is', {
      ...{ code: 'access.cluster-name', subject: `Secret ${namespace}/${from.name}` },
      hint: 'the agent of the cluster writes it; it is too old',
    });
  const queue = new WorkQueue(clock);
  const follow = (api: KubeApi, kind: KindInfo, scope: ListOptions): Reflector => {
    const reflector = new Reflector({ api, kind, clock, log, random, ...scope });
    reflector.store.onChange(({ before, after }) => queue.add((after ?? before)?.metadata.name ?? ''));
    // It never rejects.
    void reflector.run(signal);
    return reflector;
  };
  const labelSelector = `${MANAGED_LABEL}=true`;
  const accounts = follow(hub, MANAGED_SERVICE_ACCOUNT, { namespace: clusterName });
  const all = [
    accounts,
    follow(hub, SECRET, { namespace: clusterName, labelSelector }),
    follow(cluster, SERVICE_ACCOUNT, { namespace, labelSelector }),
  ];
  const keeper = new AccountKeeper({
    ...{ hub, clusterName, cluster, namespace, clock, log },
    authority: async () => authorityOf(await config.credentials({ clock })),
  });
  const isFollowing = async (): Promise<boolean> => all.every(({ synced }) => synced);
  await Promise.all([
    keepLease({
      ...{ cluster, name: MANAGED_SERVICE_ACCOUNTS, namespace, health: [isFollowing] },
      ...{ signal, clock, log },
    }),
    runReconciler(
      {
        ...{ clock, random, log, name: 'managed service accounts', queue, concurrency: AT_ONCE },
        isRetryable: mayBeAllowedLater,
        // Until all have been listed, an account that seems to be missing may just be unread.
        mayBegin: async (stop) => void (await Promise.all(all.map((one) => one.whenSynced(stop)))),
        reconcile: (name) => {
          const account = accounts.store.get(`${clusterName}/${name}`);
          return keeper.keep(name, account);
        },
      },
      signal,
    ),
  ]);
}

function authorityOf({ tls }: Awaited<ReturnType<KubeConfig['credentials']>>): string {
  if (tls.ca !== undefined) return tls.ca.toString('utf8');
  throw new InputError('has no certificate authority, which users of the tokens need', {
    ...{ code: 'access.kubeconfig', subject: 'kubeconfig of the cluster' },
  });
}
