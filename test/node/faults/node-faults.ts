import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { KUBECONFIG, PATIENT } from '../nodes.ts';
import { signalApiServer, signalPod, stopApiServer } from './cluster-machine.ts';

const run = promisify(execFile);
/** The Lease of the chart's controllers. Others take it after 15 s. */
const LEASE = ['lease', 'berth-fleet', '-n', 'berth-system'];
/** A container that died twice waits longer and longer for its next start: then its pod is deleted instead. */
const DEATHS = 2;

export interface Fault {
  /** `leader killed`: one for each kind. */
  readonly name: string;
  /** Whether a controller refuses no request meanwhile: their pods go on. */
  readonly isHarmless: boolean;
  /** Makes it and ends it; `between` is called while it lasts. */
  readonly make: (between: () => void) => Promise<string>;
}

interface Pod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly isReady: boolean;
  readonly restarts: number;
}

export async function kubectl(...args: readonly string[]): Promise<string> {
  return (await run('kubectl', ['--kubeconfig', KUBECONFIG ?? '', ...args])).stdout.trim();
}

export const controllers = (): Promise<readonly Pod[]> => pods('-n', 'berth-system', '-l', 'app=berth');
export const agents = (): Promise<readonly Pod[]> => pods('-A', '-l', 'app=klusterlet-agent');

/** The pods to which the Service sends requests, or still does. */
export async function servingPods(): Promise<readonly string[]> {
  const path = 'jsonpath={.items[*].endpoints[*].targetRef.name}';
  const slices = ['endpointslices', '-n', 'berth-system', '-l', 'kubernetes.io/service-name=berth'];
  return (await kubectl('get', ...slices, '-o', path)).split(' ').sort();
}

async function pods(...args: readonly string[]): Promise<readonly Pod[]> {
  const { items } = JSON.parse(await kubectl('get', 'pods', ...args, '-o', 'json')) as PodList;
  return items.map(({ metadata: { name, namespace, uid, deletionTimestamp }, status }) => ({
    ...{ name, namespace, uid },
    isReady: deletionTimestamp === undefined && status.containerStatuses?.[0]?.ready === true,
    restarts: status.containerStatuses?.[0]?.restartCount ?? 0,
  }));
}

/** @param random uniform in [0, 1) */
export function nodeFaults(random: () => number): readonly Fault[] {
  const between = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

  /** The leader, or one that stands by; any if nobody leads. */
  const controller = async (isLeader: boolean): Promise<Pod> => {
    const holder = await kubectl('get', ...LEASE, '-o', 'jsonpath={.spec.holderIdentity}');
    const all = await controllers();
    return all.find(({ name }) => holder.startsWith(name) === isLeader) ?? one(all);
  };
  const kill = async ({ name, namespace, uid, restarts }: Pod): Promise<string> => {
    if (restarts < DEATHS && random() < 0.6) {
      signalPod(uid, 'SIGKILL');
      const restarted = async () => (await pods('-n', namespace)).find((pod) => pod.uid === uid)?.restarts;
      await expect.poll(restarted, PATIENT).not.toBe(restarts);
      return `SIGKILL of ${name}`;
    }
    const how = one([[], ['--grace-period=0', '--force']]);
    await kubectl('delete', 'pod', name, '-n', namespace, '--wait=false', ...how);
    return `deletion of ${name} ${how.join(' ')}`;
  };
  const freeze = async ({ name, uid }: Pod, seconds: number, then: () => void): Promise<string> => {
    signalPod(uid, 'SIGSTOP');
    try {
      then();
      // fixed wait: how long the fault lasts
      await pause(seconds * 1000);
    } finally {
      signalPod(uid, 'SIGCONT');
    }
    return `${name} frozen for ${String(seconds)} s`;
  };
  const killed = (name: string, pod: () => Promise<Pod>, isHarmless = false): Fault => ({
    ...{ name, isHarmless },
    make: async (then) => {
      const one = await pod();
      then();
      return kill(one);
    },
  });
  const agent = async (): Promise<Pod> => one(await agents());

  return [
    killed('leader killed', () => controller(true)),
    killed('standby killed', () => controller(false)),
    killed('agent killed', agent, true),
    {
      ...{ name: 'both controllers killed', isHarmless: false },
      make: async (then) => {
        const all = await controllers();
        then();
        return (await Promise.all(all.map(kill))).join(', ');
      },
    },
    {
      ...{ name: 'leader frozen for less than its lease', isHarmless: false },
      make: async (then) => freeze(await controller(true), between(2, 9), then),
    },
    {
      ...{ name: 'leader frozen for longer than its lease', isHarmless: false },
      make: async (then) => freeze(await controller(true), between(17, 22), then),
    },
    {
      ...{ name: 'agent frozen', isHarmless: true },
      make: async (then) => freeze(await agent(), between(2, 12), then),
    },
    {
      ...{ name: 'API server killed and started', isHarmless: true },
      make: async (then) => {
        const signal = one(['SIGTERM', 'SIGKILL'] as const);
        const seconds = between(0, 12);
        const start = await stopApiServer(signal);
        try {
          then();
          // fixed wait: how long the fault lasts
          await pause(seconds * 1000);
        } finally {
          start();
        }
        return `${signal} of the API server, which is away for ${String(seconds)} s`;
      },
    },
    {
      ...{ name: 'API server frozen', isHarmless: true },
      make: async (then) => {
        const seconds = between(2, 12);
        signalApiServer('SIGSTOP');
        try {
          then();
          // fixed wait: how long the fault lasts
          await pause(seconds * 1000);
        } finally {
          signalApiServer('SIGCONT');
        }
        return `the API server frozen for ${String(seconds)} s`;
      },
    },
    { ...{ name: 'node drained and uncordoned', isHarmless: false }, make: drain },
  ];
}

async function drain(then: () => void): Promise<string> {
  const node = await kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}');
  try {
    // Pods of no controller and those with an emptyDir go, too.
    const flags = ['--force', '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=120s'];
    const draining = kubectl('drain', node, ...flags);
    then();
    await draining;
  } finally {
    await kubectl('uncordon', node);
  }
  return `${node} drained and uncordoned`;
}

interface PodList {
  readonly items: readonly {
    readonly metadata: {
      readonly name: string;
      readonly namespace: string;
      readonly uid: string;
      readonly deletionTimestamp?: string;
    };
    readonly status: {
      readonly containerStatuses?: readonly { readonly ready: boolean; readonly restartCount: number }[];
    };
  }[];
}
