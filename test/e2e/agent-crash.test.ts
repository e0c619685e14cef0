import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { type HubProcess, startHubProcess } from './hub-process.ts';

const MAIN = join(import.meta.dirname, '../../dist/src/app/cli/main.js');
const WORKS = '/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks';
const APPLIED = '/clusters/cluster1/apis/work.open-cluster-management.io/v1/appliedmanifestworks';
const MAPS = '/clusters/cluster1/api/v1/namespaces/default/configmaps';

let dataDir: string;
let hub: HubProcess;
let agent: ChildProcess | undefined;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-agent-crash-'));
  hub = await startHubProcess(dataDir, ['--members', 'cluster1']);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cluster1' } };
  expect((await hub.call('POST', '/api/v1/namespaces', namespace)).status).toBe(201);
});

afterAll(async () => {
  agent?.kill('SIGKILL');
  await hub.end('SIGTERM');
  await rm(dataDir, { recursive: true, force: true });
});

function startAgent(): ChildProcess {
  const words = [
    'agent',
    '--hub-kubeconfig',
    hub.kubeconfig,
    '--cluster-name',
    'cluster1',
    '--log-level',
    'error',
  ];
  const member = hub.kubeconfig.replace('admin.kubeconfig', 'admin-cluster1.kubeconfig');
  return spawn(process.execPath, [MAIN, ...words, '--kubeconfig', member], { stdio: 'ignore' });
}

/** Every write to the cluster counts it up. */
async function clusterVersion(): Promise<number> {
  const { metadata } = (await hub.call('GET', `${MAPS}?limit=1`)).body as unknown as Listed;
  return Number(metadata.resourceVersion);
}

/** Starts an agent, kills it the hard way in the middle of its work, once about so many writes were done. */
async function killedAfter(writes: number): Promise<void> {
  const until = (await clusterVersion()) + writes;
  agent = startAgent();
  // fixed wait: the pace of a poll
  for (const deadline = Date.now() + PATIENCE_MS; (await clusterVersion()) < until; await sleep(1))
    expect(Date.now(), 'the agent does not write').toBeLessThan(deadline);
  const ended = new Promise((resolve) => agent?.once('exit', resolve));
  agent.kill('SIGKILL');
  await ended;
}

/** @param name with an odd number: by server-side apply, which owns what it made in a second request */
function workOf(name: string, from: number, to: number): object {
  const manifests = Array.from({ length: to - from }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `m${from + index}`, namespace: 'default' },
    data: { work: name },
  }));
  return {
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name },
    spec: {
      workload: { manifests },
      ...(/[13579]$/.test(name) ? { manifestConfigs: SERVER_SIDE } : {}),
    },
  };
}

const SERVER_SIDE = [
  {
    resourceIdentifier: { resource: 'configmaps', namespace: '*', name: '*' },
    updateStrategy: { type: 'ServerSideApply' },
  },
];

interface Listed {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly { metadata: { name: string; ownerReferences?: readonly { kind: string }[] } }[];
}

/** The objects that works made, and of them those that know whom they belong to. */
async function objects(): Promise<{ all: readonly string[]; owned: readonly string[] }> {
  const { items } = (await hub.call('GET', MAPS)).body as unknown as Listed;
  const made = items.filter(({ metadata }) => /^m\d+$/.test(metadata.name));
  const owned = made.filter(({ metadata }) =>
    metadata.ownerReferences?.some(({ kind }) => kind === 'AppliedManifestWork'),
  );
  const names = (list: typeof made) => list.map(({ metadata }) => metadata.name).sort();
  return { all: names(made), owned: names(owned) };
}

async function eventually(check: () => Promise<void>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      // fixed wait: the pace of a poll
      await sleep(300);
    }
  }
}

it('an agent that is killed again and again leaves the cluster equal to the works', async () => {
  for (let work = 0; work < 4; work++)
    expect((await hub.call('POST', WORKS, workOf(`w${work}`, work * 40, work * 40 + 40))).status).toBe(201);
  // The deaths fall into the applying of 160 objects.
  for (const writes of [20, 50, 70]) await killedAfter(writes);
  // While nobody looks, one work goes, one shrinks.
  await hub.call('DELETE', `${WORKS}/w0`);
  const { body } = await hub.call('GET', `${WORKS}/w1`);
  const smaller = { ...body, spec: (workOf('w1', 40, 50) as { spec: object }).spec };
  expect((await hub.call('PUT', `${WORKS}/w1`, smaller)).status).toBe(200);
  for (const writes of [15, 25]) await killedAfter(writes);
  agent = startAgent();
  const wanted = [...range(40, 50), ...range(80, 160)].map((index) => `m${index}`).sort();
  await eventually(async () => {
    expect(await objects()).toEqual({ all: wanted, owned: wanted });
    expect((await hub.call('GET', `${WORKS}/w0`)).status).toBe(404);
    const { items } = (await hub.call('GET', APPLIED)).body as unknown as Listed;
    expect(items.map(({ metadata }) => metadata.name.slice(65)).sort()).toEqual(['w1', 'w2', 'w3']);
  });
});

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
