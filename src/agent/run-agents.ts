import { AGENT_RIGHTS } from '../core/rbac/rights-command.ts';
import { HttpKubeApi } from '../adapters/kube/http-kube-api.ts';
import { loadKubeConfig } from '../adapters/kube/config/load-kube-config.ts';
import { ServerOutage } from '../adapters/kube/transport/server-outage.ts';
import { quietLogger } from '../adapters/log/quiet-logger.ts';
import type { Clock, Logger } from '../core/ports.ts';
import { onAbort } from '../runtime/on-abort.ts';
import type { AgentEvent, AgentOptions } from './options/agent-options.ts';
import type { AgentPair } from './options/agent-pairs.ts';
import { ImpersonatingClients } from './cluster/impersonating-clients.ts';
import { startAgent } from './start-agent.ts';

export interface RunAgentsOptions {
  readonly pairs: readonly AgentPair[];
  readonly settings: Omit<AgentOptions, 'hub' | 'cluster' | 'clusterName' | 'clock' | 'log'>;
  /** Where KUBECONFIG is looked up. */
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Starts an agent per pair; those that name the same kubeconfig share its connections. Resolves when all have stopped.
 * @param stopping `signal` stops the agents in order; `cutOff` drops the requests that are still under way
 */
export async function runAgents(
  options: RunAgentsOptions,
  stopping: { readonly signal: AbortSignal; readonly cutOff: AbortSignal },
): Promise<void> {
  const { pairs, settings, clock, log } = options;
  const clients = new Map<string, Client>();
  const open = (file: string | undefined): Client => {
    let client = clients.get(file ?? '');
    if (client === undefined) {
      const config = loadKubeConfig({ file, env: options.env });
      const as = { userAgent: 'work-agent', rightsCommand: AGENT_RIGHTS };
      const outage = new ServerOutage({ server: config.getCurrentCluster()?.server ?? '', clock, log });
      const api = new HttpKubeApi({ config, clock, ...as, exactIntegers: true, outage });
      client = { api, outage, executors: new ImpersonatingClients(config, clock) };
      clients.set(file ?? '', client);
    }
    return client;
  };
  // All kubeconfigs are read before the first agent starts: a mistake in one changes nothing.
  const opened = pairs.map((pair) => ({
    pair,
    hub: open(pair.hubKubeconfig),
    cluster: open(pair.kubeconfig),
  }));
  const agents = opened.map(({ pair: { clusterName, agentId }, hub, cluster }) => {
    const agent = startAgent({
      ...settings,
      hub: hub.api,
      cluster: cluster.api,
      clusterName,
      agentId,
      clock,
      log: quietLogger(log, () => hub.outage.isFelt || cluster.outage.isFelt),
      impersonate: (user) => cluster.executors.as(user),
      onEvent: (event) => tell(log, event),
    });
    log.info('agent started', { cluster: clusterName, hub: hub.api.server, managed: cluster.api.server });
    void agent
      .whenSynced()
      .then(() => log.info('works and applied works are known', { cluster: clusterName }));
    return agent;
  });
  const disconnect = (): void => {
    for (const { api, executors } of clients.values()) {
      api.close();
      executors.close();
    }
  };
  onAbort(stopping.cutOff, disconnect);
  await aborted(stopping.signal);
  await Promise.all(agents.map((agent) => agent.close()));
  disconnect();
}

/** Of one API server. */
interface Client {
  readonly api: HttpKubeApi;
  readonly outage: ServerOutage;
  readonly executors: ImpersonatingClients;
}

const EVENT_TEXT = {
  applied: 'work applied',
  failed: 'work cannot be applied',
  corrected: 'drift corrected',
  feedback: 'feedback changed',
  deleted: 'work deleted',
  evicted: 'work evicted',
} as const;

function tell(log: Logger, { kind, ...fields }: AgentEvent): void {
  log.info(EVENT_TEXT[kind], fields);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
