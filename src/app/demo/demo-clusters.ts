import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { NAMESPACE } from '@berth/kube/model/kinds';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { startHub } from '@berth/embedded-hub/start-hub';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import type { AgentEvent } from '@berth/agent/options/agent-options';
import { startAgent } from '@berth/agent/start-agent';
import { hubAdmission } from '../../controllers/admission/hub-admission.ts';
import { startWorkloadSimulation } from '@berth/agent/simulation/workload-simulation';
import { withHoldColumns } from '../../core/publish/hold-columns.ts';

/** The embedded hub and its simulated managed clusters, each with an agent and simulated workloads. */
export interface DemoClusters {
  readonly url: string;
  readonly hubKubeconfig: string;
  readonly hub: KubeApi;
  /** By cluster name. */
  readonly members: ReadonlyMap<string, { readonly api: KubeApi; readonly kubeconfig: string }>;
  close(): Promise<void>;
}

export interface DemoClustersOptions {
  readonly dir: string;
  readonly names: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly onAgentEvent: (event: AgentEvent) => void;
}

/** Starts all clusters below `dir`, and continues existing ones. */
export async function startDemoClusters(options: DemoClustersOptions): Promise<DemoClusters> {
  const { clock, log, names } = options;
  const closers: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closers.splice(0).reverse()) await step();
  };
  try {
    const running = await startOnKnownPort(options);
    closers.push(() => running.close());
    const connect = (file: string): HttpKubeApi => {
      const api = new HttpKubeApi({ config: loadKubeConfig({ file }), clock });
      closers.push(() => api.close());
      return api;
    };
    const hub = connect(running.adminKubeconfigPath);
    const members = new Map<string, { api: KubeApi; kubeconfig: string }>();
    for (const clusterName of names) {
      // Registration would create the namespace of a cluster; the demo does it instead.
      await createIfAbsent(hub, NAMESPACE, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: clusterName },
      });
      const kubeconfig = running.memberKubeconfigPath(clusterName);
      const cluster = connect(kubeconfig);
      members.set(clusterName, { api: cluster, kubeconfig });
      const simulation = startWorkloadSimulation({ cluster, clock, log, readyAfterMs: 1_000 });
      closers.push(() => simulation.close());
      const onEvent = options.onAgentEvent;
      const agent = startAgent({
        hub,
        cluster,
        clusterName,
        clock,
        log,
        statusSyncIntervalMs: 2_000,
        onEvent,
      });
      closers.push(() => agent.close());
      await agent.whenSynced();
    }
    return { url: running.url, hubKubeconfig: running.adminKubeconfigPath, hub, members, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Uses the port of the last start if it is free: the hub's address is part of the agents' identity,
 * so with another port they would take over all works again.
 */
async function startOnKnownPort({ dir, names, log, clock }: DemoClustersOptions): Promise<RunningHub> {
  const portFile = join(dir, 'hub-port');
  const known = Number(await readFile(portFile, 'utf8').catch(() => '0'));
  const start = (port: number): Promise<RunningHub> =>
    startHub({
      dataDir: join(dir, 'hub'),
      members: names,
      listen: { port },
      kinds: { ...OCM_HUB_KINDS, definitions: withHoldColumns(OCM_HUB_KINDS.definitions) },
      admission: hubAdmission(),
      log,
      clock,
    });
  const running = await start(known).catch((error: unknown) => {
    if (known === 0 || !isAddressInUse(error)) throw error;
    return start(0);
  });
  await writeFile(portFile, String(running.port));
  return running;
}

function isAddressInUse(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if ((at as NodeJS.ErrnoException).code === 'EADDRINUSE') return true;
  return false;
}
