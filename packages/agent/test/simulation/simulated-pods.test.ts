import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kind, POD, DEPLOYMENT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import {
  startWorkloadSimulation,
  type WorkloadSimulation,
} from '../../src/simulation/workload-simulation.ts';

const REPLICA_SET = kind('apps', 'v1', 'ReplicaSet', 'Namespaced');
const SUFFIX = '[bcdfghjklmnpqrstvwxz2456789]{5}';
const KEY = { namespace: 'default', name: 'w' };

let cluster: FakeKubeApi;
let clock: FakeClock;
let simulation: WorkloadSimulation;
let seed = 7;

const start = (): void => {
  const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
  simulation = startWorkloadSimulation({ cluster, clock, log: new SilentLogger(), random });
};

beforeEach(() => {
  [cluster, clock] = [new FakeKubeApi(), new FakeClock()];
  start();
});
afterEach(() => simulation.close());

/** In steps, because each of them lets only so many answers arrive. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) await clock.advance(50);
}

const templateOf = (image: string): object => ({
  metadata: { labels: { app: 'w' }, annotations: { team: 'a' } },
  spec: { containers: [{ name: 'c', image }] },
});

function create(apiVersion: string, kindName: string, spec: object, annotations = {}): Promise<KubeObject> {
  const metadata = { ...KEY, annotations };
  const [group = ''] = apiVersion.split('/');
  const object = { apiVersion, kind: kindName, metadata, spec: { ...spec, template: templateOf('i:1') } };
  return cluster.create(kind(group, 'v1', kindName, 'Namespaced'), object);
}

async function pods(): Promise<readonly KubeObject[]> {
  return (await cluster.list(POD)).items;
}
const namesOf = (objects: readonly KubeObject[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name).sort();
const phases = async (): Promise<readonly unknown[]> =>
  (await pods()).map(({ status }) => (status as { phase?: string } | undefined)?.phase);
const isThere = (name: string) => expect.stringMatching(new RegExp(`^${name}$`)) as string;

describe('the pods of a workload of a member', () => {
  it('belong to the ReplicaSet of a Deployment, and run when it is available', async () => {
    const deployment = await create('apps/v1', 'Deployment', {
      replicas: 3,
      selector: { matchLabels: { app: 'w' } },
    });
    await pass(500);
    expect(await phases()).toEqual([undefined, undefined, undefined]);
    await pass(2_000);
    expect(await phases()).toEqual(['Running', 'Running', 'Running']);
    const [set] = (await cluster.list(REPLICA_SET)).items;
    const hash = set?.metadata.labels?.['pod-template-hash'] ?? '';
    expect(set).toMatchObject({
      metadata: {
        name: `w-${hash}`,
        ownerReferences: [{ kind: 'Deployment', name: 'w', uid: deployment.metadata.uid, controller: true }],
      },
      spec: { selector: { matchLabels: { app: 'w', 'pod-template-hash': hash } } },
      status: { replicas: 3, readyReplicas: 3 },
    });
    for (const pod of await pods())
      expect(pod).toMatchObject({
        metadata: {
          name: isThere(`w-${hash}-${SUFFIX}`),
          labels: { app: 'w', 'pod-template-hash': hash },
          annotations: { team: 'a' },
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', uid: set?.metadata.uid }],
        },
        spec: { containers: [{ name: 'c', image: 'i:1' }] },
      });
  });

  it('follow the replicas and the template of a Deployment, and are made again', async () => {
    await create('apps/v1', 'Deployment', { replicas: 2 });
    await pass(2_000);
    const [first = ''] = namesOf(await pods());
    await cluster.mergePatch(DEPLOYMENT, KEY, { spec: { replicas: 1 } });
    await pass(2_000);
    expect(await pods()).toHaveLength(1);
    await cluster.delete(POD, { namespace: 'default', name: namesOf(await pods())[0] ?? '' });
    await pass(2_000);
    expect(await phases()).toEqual(['Running']);
    await cluster.mergePatch(DEPLOYMENT, KEY, { spec: { template: templateOf('i:2') } });
    await pass(2_000);
    const sets = (await cluster.list(REPLICA_SET)).items;
    expect(sets).toHaveLength(1);
    expect(sets[0]?.metadata.name).not.toBe(first.slice(0, -6));
  });

  it.each([
    { name: 'StatefulSet', api: 'apps/v1', spec: { replicas: 2 }, pods: ['w-0', 'w-1'], phase: 'Running' },
    { name: 'DaemonSet', api: 'apps/v1', spec: {}, pods: [`w-${SUFFIX}`], phase: 'Running' },
    {
      name: 'Job',
      api: 'batch/v1',
      spec: { completions: 2 },
      pods: [`w-${SUFFIX}`, `w-${SUFFIX}`],
      phase: 'Succeeded',
    },
  ])('of a $name have its names', async ({ name, api, spec, pods: wanted, phase }) => {
    await create(api, name, spec);
    await pass(3_000);
    expect(namesOf(await pods())).toEqual(wanted.map(isThere));
    expect(new Set(await phases())).toEqual(new Set([phase]));
  });

  it.each(['StatefulSet', 'DaemonSet'])('of a %s are replaced when its template changes', async (name) => {
    await create('apps/v1', name, {});
    await pass(2_000);
    const [before] = await pods();
    const patch = { spec: { template: templateOf('i:2') } };
    await cluster.mergePatch(kind('apps', 'v1', name, 'Namespaced'), KEY, patch);
    await pass(2_000);
    const after = await pods();
    expect(after).toMatchObject([{ spec: { containers: [{ image: 'i:2' }] }, status: { phase: 'Running' } }]);
    expect(after[0]?.metadata.uid).not.toBe(before?.metadata.uid);
  });

  it('fail as annotations request, and are not made at all where nothing happens', async () => {
    await create('apps/v1', 'Deployment', {}, { 'berth.dev/simulate': 'fail' });
    await pass(2_000);
    expect(await phases()).toEqual(['Failed']);
    await create('apps/v1', 'StatefulSet', {}, { 'berth.dev/simulate': 'hang' });
    await pass(2_000);
    expect(await pods()).toHaveLength(1);
  });

  it('are no more than 50, however many replicas are asked for', async () => {
    await create('apps/v1', 'StatefulSet', { replicas: 1_000_000 });
    await pass(2_000);
    expect(await pods()).toHaveLength(50);
  });

  it('are neither made nor changed again after a restart', async () => {
    await create('apps/v1', 'Deployment', { replicas: 2 });
    await create('batch/v1', 'Job', {});
    await pass(3_000);
    const writes = cluster.writes.length;
    await simulation.close();
    start();
    await pass(10_000);
    expect(cluster.writes.length).toBe(writes);
  });

  it('are not tried again where the simulation ends while they are written', async () => {
    let fail = (_error: Error): void => undefined;
    cluster.create = () => new Promise((_done, failed) => (fail = failed));
    const object = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: KEY, spec: {} };
    await FakeKubeApi.prototype.create.call(cluster, kind('apps', 'v1', 'DaemonSet', 'Namespaced'), object);
    await pass(2_000);
    await simulation.close();
    fail(new Error('the cluster is gone'));
    await pass(100);
    expect(clock.pendingTimers).toBe(0);
  });

  it('are not followed by ReplicaSets where there is no Deployment', async () => {
    await create('apps/v1', 'DaemonSet', {});
    await pass(2_000);
    expect(await pods()).toHaveLength(1);
    expect(cluster.requests.filter((one) => /replicaset/i.test(one))).toEqual([]);
  });
});
