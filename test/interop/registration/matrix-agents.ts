import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { BerthProcess } from '../../e2e/berth-process.ts';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { freePort } from '../peers/free-port.ts';
import { type PeerProcess, startPeer } from '../peers/peer-process.ts';

/** What an agent is started with. */
export interface AgentPlace {
  readonly cluster: string;
  readonly bootstrap: string;
  /** Of the managed cluster, as its administrator. */
  readonly kubeconfig: string;
  /** Receives the hub kubeconfig with its certificate. */
  readonly hubDir: string;
  readonly logDir: string;
  /** Further flags of ours. */
  readonly flags?: readonly string[];
}

export interface MatrixAgent {
  /** Ends it as a machine does that loses its power. */
  kill(): Promise<void>;
  /** It goes on after `resume`. */
  pause(): void;
  resume(): void;
}

const SECONDS = '--client-cert-expiration-seconds=3600';

/** `berth agent`: registration and works in one process. */
export function startOurAgent({
  cluster,
  bootstrap,
  kubeconfig,
  hubDir,
  flags = [],
}: AgentPlace): MatrixAgent {
  const agent = new BerthProcess([
    ...['agent', '--cluster-name', cluster, '--bootstrap-kubeconfig', bootstrap, SECONDS],
    ...['--hub-kubeconfig-dir', hubDir, '--kubeconfig', kubeconfig, ...flags],
  ]);
  return {
    kill: () => agent.kill(),
    pause: () => agent.child.kill('SIGSTOP'),
    resume: () => agent.child.kill('SIGCONT'),
  };
}

/** OCM's registration agent, and its work agent as soon as there is a hub kubeconfig. */
export async function startOcmAgents(place: AgentPlace): Promise<MatrixAgent> {
  const registration = await startOcm('registration', place, [
    ...[`--bootstrap-kubeconfig=${place.bootstrap}`, `--hub-kubeconfig-dir=${place.hubDir}`, SECONDS],
  ]);
  let work: PeerProcess | undefined;
  let isOver = false;
  const hubConfig = join(place.hubDir, 'kubeconfig');
  const starting = (async () => {
    const isThere = () => isOver || existsSync(hubConfig);
    await expect.poll(isThere, { timeout: OUTAGE_PATIENCE_MS }).toBe(true);
    if (isOver) return;
    work = await startOcm('work', place, [
      ...['--workload-source-driver=kube', `--workload-source-config=${hubConfig}`],
      ...[`--agent-id=${place.cluster}`, '--status-sync-interval=2s'],
    ]);
  })();
  const signal = (what: 'SIGSTOP' | 'SIGCONT'): void => {
    for (const process of [registration, work]) process?.signal(what);
  };
  return {
    kill: async () => {
      isOver = true;
      await starting.catch(() => undefined);
      await Promise.all([registration.kill(), work?.kill()]);
    },
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
  };
}

async function startOcm(
  program: 'registration' | 'work',
  { cluster, kubeconfig, logDir }: AgentPlace,
  args: readonly string[],
): Promise<PeerProcess> {
  const namespace = 'open-cluster-management-agent';
  return startPeer(`ocm/${program}`, {
    args: [
      ...[
        'agent',
        `--kubeconfig=${kubeconfig}`,
        `--spoke-cluster-name=${cluster}`,
        `--namespace=${namespace}`,
      ],
      ...['--disable-leader-election', `--listen=127.0.0.1:${await freePort()}`, ...args],
    ],
    logFile: join(logDir, `${program}.log`),
    env: { POD_NAME: 'test', POD_NAMESPACE: namespace },
  });
}
