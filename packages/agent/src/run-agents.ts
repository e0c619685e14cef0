import { setMaxListeners } from 'node:events';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import type { ServerOutage } from '@berth/kube/transport/server-outage';
import { quietLogger } from '@berth/runtime/log/quiet-logger';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import { onAbort } from '@berth/runtime/loop/sleep';
import { type AgentClient, AgentClients } from './agent-clients.ts';
import type { AgentHealth, AgentPulse } from './agent-health.ts';
import type { AgentEvent, AgentOptions } from './options/agent-options.ts';
import type { AgentPair, JoinedPair, RegisteringPair } from './options/agent-pairs.ts';
import { FolderStore } from './registration/credentials/folder-store.ts';
import { SecretStore } from './registration/credentials/secret-store.ts';
import type { RegistrationSettings } from './registration/options/registration-settings.ts';
import { type Registration, runRegistration } from './registration/run-registration.ts';
import { type Agent, startAgent } from './start-agent.ts';

export interface RunAgentsOptions {
  readonly pairs: readonly AgentPair[];
  readonly settings: Omit<AgentOptions, 'hub' | 'cluster' | 'clusterName' | 'clock' | 'log'>;
  /** For agents that register their cluster. */
  readonly registration: Omit<RegistrationSettings, 'clock' | 'random' | 'log' | 'env' | 'connect'>;
  /** The environment, with KUBECONFIG and the variables that set a proxy. */
  readonly env: NodeJS.ProcessEnv;
  readonly clock: MonotonicClock;
  readonly log: Logger;
  /** Learns how each agent is. */
  readonly health: AgentHealth;
}

/**
 * Starts one agent for each pair. Agents with the same kubeconfig share its connections. Resolves when all have
 * stopped.
 * @param stopping `signal` stops the agents in order; `cutOff` cancels their remaining requests
 */
export async function runAgents(
  options: RunAgentsOptions,
  stopping: { readonly signal: AbortSignal; readonly cutOff: AbortSignal },
): Promise<void> {
  const clients = new AgentClients(options);
  // All kubeconfigs are read before the first agent starts, so that an error in one changes nothing.
  const opened = options.pairs.map((pair, index) => {
    const cluster = clients.of(pair.kubeconfig);
    const pulse = options.health.add(pair.clusterName ?? `agent ${index + 1}`, cluster.outage);
    return { pair, cluster, pulse, hub: hubOf(pair, clients) };
  });
  const stop = new AbortController();
  // Every agent and every wait adds a listener, so many listeners are not a leak.
  setMaxListeners(0, stop.signal, stopping.cutOff);
  onAbort(stopping.signal, () => stop.abort());
  onAbort(stopping.cutOff, () => clients.close());
  try {
    await Promise.all(
      opened.map(({ pair, hub, ...agent }) => {
        const run = { options, ...agent };
        return 'hubKubeconfig' in pair
          ? runJoined(pair, { ...run, hub, signal: stop.signal })
          : register(pair, { ...run, clients, stopping: { ...stopping, signal: stop.signal } });
      }),
    );
  } finally {
    // If one agent can never register, all others stop in order.
    stop.abort();
    clients.close();
  }
}

function hubOf(pair: AgentPair, clients: AgentClients): AgentClient | undefined {
  return 'hubKubeconfig' in pair ? clients.of(pair.hubKubeconfig) : undefined;
}

interface JoinedRun {
  readonly options: RunAgentsOptions;
  readonly cluster: AgentClient;
  readonly pulse: AgentPulse;
  readonly hub: AgentClient | undefined;
  readonly signal: AbortSignal;
}

async function runJoined(
  pair: JoinedPair,
  { options, cluster, pulse, hub, signal }: JoinedRun,
): Promise<void> {
  if (hub === undefined) return;
  const { clusterName, agentId } = pair;
  const agent = startWorks(options, {
    hub: hub.api,
    outage: hub.outage,
    cluster,
    pulse,
    clusterName,
    agentId,
  });
  await aborted(signal);
  await agent.close();
}

interface WorksRun {
  readonly hub: KubeApi;
  readonly outage: ServerOutage | undefined;
  readonly cluster: AgentClient;
  readonly pulse: AgentPulse;
  readonly clusterName: string;
  readonly agentId: string | undefined;
}

function startWorks({ settings, clock, log }: RunAgentsOptions, run: WorksRun): Agent {
  const { hub, outage, cluster, pulse, clusterName, agentId } = run;
  const agent = startAgent({
    ...settings,
    hub,
    cluster: cluster.api,
    clusterName,
    agentId,
    clock,
    log: quietLogger(
      log,
      (error) => outage?.explains(error) === true || cluster.outage.explains(error),
      clock,
    ),
    impersonate: (user) => cluster.executors.as(user),
    onEvent: (event) => logEvent(log, event),
  });
  log.info('agent started', { cluster: clusterName, hub: hub.server, managed: cluster.api.server });
  void agent.whenSynced().then(() => {
    pulse.hub = outage ?? { problem: undefined };
    log.info('works and applied works were listed', { cluster: clusterName });
  });
  return agent;
}

interface RegisteringRun {
  readonly options: RunAgentsOptions;
  readonly clients: AgentClients;
  readonly cluster: AgentClient;
  readonly pulse: AgentPulse;
  readonly stopping: { readonly signal: AbortSignal; readonly cutOff: AbortSignal };
}

async function register(pair: RegisteringPair, run: RegisteringRun): Promise<void> {
  const { options, clients, cluster, pulse, stopping } = run;
  const { env, clock, log } = options;
  const outages = new Map<KubeApi, ServerOutage>();
  const closers = new Set<() => void>();
  onAbort(stopping.cutOff, () => closers.forEach((close) => close()));
  const registration: Registration = {
    bootstraps: pair.bootstrapKubeconfigs.map((file) => () => loadKubeConfig({ file, env })),
    store: storeOf(pair, run),
    cluster: cluster.api,
    hosting: hostingOf(pair, run).api,
    clusterName: pair.clusterName,
    agentId: pair.agentId,
    settings: {
      ...options.registration,
      clock,
      random: Math.random,
      log,
      env,
      connect: (config) => {
        const { api, outage, executors } = clients.connect(config);
        outages.set(api, outage);
        const close = (): void => {
          outages.delete(api);
          closers.delete(close);
          api.close();
          executors.close();
        };
        closers.add(close);
        if (stopping.cutOff.aborted) close();
        return { api, close };
      },
    },
    startWorks: (hub, identity) => {
      const outage = outages.get(hub);
      const { agentId } = pair;
      const agent = startWorks(options, {
        hub,
        outage,
        cluster,
        pulse,
        clusterName: identity.cluster,
        agentId,
      });
      return () => {
        pulse.hub = undefined;
        return agent.close();
      };
    },
  };
  await runRegistration(registration, stopping.signal);
}

function storeOf(pair: RegisteringPair, run: RegisteringRun): Registration['store'] {
  const { credentials } = pair;
  switch (credentials.kind) {
    case 'folder':
      return new FolderStore(credentials.path, run.options.log);
    case 'secret': {
      const { namespace, name } = credentials;
      return new SecretStore(hostingOf(pair, run).api, { namespace, name });
    }
  }
}

/** The cluster that the agent runs in. */
function hostingOf({ credentials }: RegisteringPair, { clients, cluster }: RegisteringRun): AgentClient {
  const { hostingKubeconfig } = credentials.kind === 'secret' ? credentials : {};
  return hostingKubeconfig === undefined ? cluster : clients.of(hostingKubeconfig);
}

const EVENT_TEXT = {
  applied: 'work applied',
  failed: 'work cannot be applied',
  corrected: 'drift corrected',
  feedback: 'feedback changed',
  deleted: 'work deleted',
  evicted: 'work evicted',
} as const;

function logEvent(log: Logger, { kind, ...fields }: AgentEvent): void {
  log.info(EVENT_TEXT[kind], fields);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
