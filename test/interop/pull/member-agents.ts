import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { startAgent } from '@berth/agent/start-agent';
import { NAMESPACE } from '@berth/kube/model/kinds';
import { namespace } from '../../app/serve/fleet-fixture.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { freePort } from '../peers/free-port.ts';
import { startPeer } from '../peers/peer-process.ts';
import type { SharedHub } from '../peers/shared-hubs.ts';

/** A running agent. */
export interface MemberAgent {
  close(): Promise<void>;
}

export interface AgentPlace {
  /** Of the cluster at the hub. */
  readonly name: string;
  readonly hub: SharedHub;
  readonly cluster: SharedHub;
  /** A folder of the caller's for files and logs. */
  readonly dir: string;
}

/** A program that applies works on a member. */
export interface AgentKind {
  /** For the title of a test. */
  readonly agent: string;
  readonly agentPrograms: readonly string[];
  /** Resolves when it runs. */
  readonly startAgent: (place: AgentPlace) => Promise<MemberAgent>;
}

const OCM_AGENT = 'ocm/work';
const AGENT_NAMESPACE = 'open-cluster-management-agent';

export const AGENT_KINDS: readonly AgentKind[] = [
  {
    agent: 'Berth’s agent',
    agentPrograms: [],
    startAgent: async ({ name, hub, cluster }) => {
      const agent = startAgent({
        hub: hub.api,
        cluster: cluster.api,
        clusterName: name,
        agentId: name,
        clock: systemClock,
        log: new SilentLogger(),
      });
      await agent.whenSynced();
      return agent;
    },
  },
  { agent: 'OCM’s work agent', agentPrograms: [OCM_AGENT], startAgent: startOcmAgent },
];

async function startOcmAgent({ name, hub, cluster, dir }: AgentPlace): Promise<MemberAgent> {
  if ((await cluster.api.get(NAMESPACE, { namespace: '', name: AGENT_NAMESPACE })) === undefined)
    await cluster.api.create(NAMESPACE, namespace(AGENT_NAMESPACE));
  mkdirSync(dir, { recursive: true });
  const agent = startPeer(OCM_AGENT, {
    args: [
      'agent',
      `--kubeconfig=${cluster.kubeconfig}`,
      `--spoke-cluster-name=${name}`,
      '--workload-source-driver=kube',
      `--workload-source-config=${hub.kubeconfig}`,
      `--agent-id=${name}`,
      `--namespace=${AGENT_NAMESPACE}`,
      '--disable-leader-election',
      '--status-sync-interval=1s',
      `--listen=127.0.0.1:${await freePort()}`,
    ],
    logFile: join(dir, 'work-agent.log'),
    env: { POD_NAME: name, POD_NAMESPACE: AGENT_NAMESPACE },
  });
  return { close: () => agent.stop() };
}
