import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { Reflector } from '@berth/kube/cache/reflector';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { registerDefaultSets } from './register-member.ts';
import { SimulatedMember } from './simulated-member.ts';
import { startWorkloadSimulation } from './workload-simulation.ts';

export interface MembersOptions {
  /** A running embedded hub. */
  readonly hub: {
    readonly adminKubeconfigPath: string;
    memberKubeconfigPath(name: string): string;
  };
  readonly names: readonly string[];
  /** Register the members on the hub and run an agent for each. Otherwise only their workloads are simulated. */
  readonly agents: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly readyAfterMs?: number;
}

export interface RunningMembers {
  close(): Promise<void>;
}

/** Runs the agents and workloads of an embedded hub's member clusters in this process. */
export async function startMembers(options: MembersOptions): Promise<RunningMembers> {
  const { names, clock, log, readyAfterMs = 1_000 } = options;
  const closers: (() => Promise<void> | void)[] = [];
  const open = (file: string, maxRequests: number): HttpKubeApi => {
    const api = new HttpKubeApi({
      config: loadKubeConfig({ file }),
      clock,
      maxRequests,
      userAgent: 'berth-member',
    });
    closers.push(() => api.close());
    return api;
  };
  const clusters = new Map<string, HttpKubeApi>();
  for (const name of names) {
    const cluster = open(options.hub.memberKubeconfigPath(name), 4);
    clusters.set(name, cluster);
    const simulation = startWorkloadSimulation({ cluster, clock, log, readyAfterMs });
    closers.push(() => simulation.close());
  }
  if (options.agents)
    closers.push(await startAgents(open(options.hub.adminKubeconfigPath, 32), clusters, options));
  return {
    close: async () => {
      for (const close of closers.reverse()) await close();
    },
  };
}

async function startAgents(
  hub: HttpKubeApi,
  clusters: ReadonlyMap<string, HttpKubeApi>,
  { clock, log }: MembersOptions,
): Promise<() => Promise<void>> {
  await registerDefaultSets(hub);
  const members = new Map<string, SimulatedMember>();
  for (const [name, cluster] of clusters) {
    const member = new SimulatedMember({ name, hub, cluster, clock, log });
    await member.register();
    members.set(name, member);
  }
  const stop = new AbortController();
  const reflector = new Reflector({ api: hub, kind: MANAGED_CLUSTER, clock, log, random: Math.random });
  reflector.store.onChange(({ after }) => {
    if (after !== undefined) void members.get(after.metadata.name)?.follow(asManagedCluster(after));
  });
  const running = reflector.run(stop.signal);
  return async () => {
    stop.abort();
    await running;
    for (const member of members.values()) await member.close();
  };
}

function asManagedCluster(object: KubeObject): ManagedCluster {
  return object as unknown as ManagedCluster;
}
