import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import { SERVE_RIGHTS } from '../../../../core/rbac/rights-command.ts';
import { DEFAULT_NAMESPACE } from '../../../../core/sync/apply-set.ts';
import { onAbort } from '@berth/runtime/loop/sleep';
import type { LeaderElector } from '@berth/kube/leader-election/leader-elector';
import type { CliIo } from '../../../terminal/cli-io.ts';
import type { ElectionSettings } from './election-flags.ts';
import type { HubFlags } from '../../flags/hub-flags.ts';

export interface HubConnection {
  readonly api: KubeApi & { readonly server: string; close(): void };
  /** No election refuses its writes. */
  readonly unguarded: KubeApi;
  /** A client with the token of somebody else, which no election guards. */
  readonly actAs: (token: string) => KubeApi & { close(): void };
  /** Not started yet. Undefined: no leader election. */
  readonly elector: LeaderElector | undefined;
  /** For all hub clients: it logs an outage of the hub once. */
  readonly log: Logger;
  /** Why the hub can neither be read nor written at present. */
  readonly problem: () => string | undefined;
  /** Releases the lease. */
  readonly close: () => Promise<void> | void;
}

/** Connects a long-running command to the hub. With leader election, the lease guards its writes. */
export async function connectHub(
  io: CliIo,
  flags: HubFlags,
  parts: {
    readonly election: ElectionSettings | undefined;
    readonly clock: MonotonicClock;
    readonly log: Logger;
  },
): Promise<HubConnection> {
  const { election, clock } = parts;
  const { loadKubeConfig } = await import('@berth/kube/config/load-kube-config');
  const config = loadKubeConfig({ file: flags.kubeconfig, context: flags.context, env: io.env });
  const { ServerOutage } = await import('@berth/kube/transport/server-outage');
  const { quietLogger } = await import('@berth/runtime/log/quiet-logger');
  const server = config.getCurrentCluster()?.server ?? '';
  const outage = new ServerOutage({ server, clock, log: parts.log });
  const log = quietLogger(parts.log, (error) => outage.explains(error), clock);
  const problem = (): string | undefined => outage.problem;
  const { HttpKubeApi } = await import('@berth/kube/http-kube-api');
  const { RotatingKubeConfig } = await import('@berth/kube/config/rotating-kube-config');
  const actAs: HubConnection['actAs'] = (token) =>
    new HttpKubeApi({
      ...{ config: new RotatingKubeConfig(config, { token }, io.env), clock },
      // So that the audit log of the hub shows where it was done.
      userAgent: 'berth-dashboard',
    });
  if (election !== undefined) {
    const { electLeader } = await import('../../../serve/elect-leader.ts');
    const key = { namespace: DEFAULT_NAMESPACE, name: election.lease };
    const { timing } = election;
    const elected = electLeader({ config, key, timing, clock, random: Math.random, log, outage });
    return { ...elected, actAs, log, problem };
  }
  const api = new HttpKubeApi({ config, clock, rightsCommand: SERVE_RIGHTS, outage });
  return { api, actAs, unguarded: api, elector: undefined, log, problem, close: () => api.close() };
}

/**
 * Calls `stop` on a signal, and when the lease is lost.
 * @returns a function that tells whether the lease was lost
 */
export function stopOnSignalOrLoss(
  signal: AbortSignal,
  elector: LeaderElector | undefined,
  stop: () => void,
): () => boolean {
  const ending = new AbortController();
  let isLost = false;
  const end = (): void => {
    ending.abort();
    stop();
  };
  onAbort(signal, end);
  void elector?.whenLost(ending.signal).then(() => {
    isLost = !ending.signal.aborted;
    if (isLost) stop();
  });
  return () => isLost;
}
