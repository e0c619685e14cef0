import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  startWorkloadSimulation,
  type WorkloadSimulation,
} from '../../src/simulation/workload-simulation.ts';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const kindOf = (group: string, kind: string): KindInfo => ({
  group,
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

function workload(group: string, kind: string, spec: object, annotations = {}): KubeObject {
  const apiVersion = group === '' ? 'v1' : `${group}/v1`;
  return { apiVersion, kind, metadata: { name: 'w', namespace: 'default', annotations }, spec };
}

let cluster: FakeKubeApi;
let clock: FakeClock;
let simulation: WorkloadSimulation;

beforeEach(() => {
  cluster = new FakeKubeApi();
  clock = new FakeClock();
  simulation = startWorkloadSimulation({ cluster, clock, log: new SilentLogger(), random: () => 0.5 });
});

afterEach(() => simulation.close());

async function statusAfter(group: string, kind: string, ms: number): Promise<Record<string, unknown>> {
  await clock.advance(ms);
  const found = await cluster.get(kindOf(group, kind), { namespace: 'default', name: 'w' });
  return (found?.['status'] ?? {}) as Record<string, unknown>;
}

describe('workloads of a member', () => {
  it.each([
    {
      group: 'apps',
      kind: 'Deployment',
      spec: { replicas: 3 },
      before: { replicas: 3 },
      after: { readyReplicas: 3 },
    },
    { group: 'apps', kind: 'StatefulSet', spec: {}, before: { replicas: 1 }, after: { readyReplicas: 1 } },
    { group: 'apps', kind: 'DaemonSet', spec: {}, before: { numberReady: 0 }, after: { numberReady: 1 } },
    { group: 'batch', kind: 'Job', spec: {}, before: { active: 1 }, after: { succeeded: 1 } },
    {
      group: '',
      kind: 'Pod',
      spec: { containers: [{ name: 'c', image: 'i' }] },
      before: { phase: 'Pending', containerStatuses: [{ name: 'c', ready: false }] },
      after: { phase: 'Running', containerStatuses: [{ name: 'c', image: 'i', ready: true }] },
    },
  ])('$kind gets there after a while', async ({ group, kind, spec, before, after }) => {
    await cluster.create(kindOf(group, kind), workload(group, kind, spec));
    expect(await statusAfter(group, kind, 500)).toMatchObject(before);
    expect(await statusAfter(group, kind, 600)).toMatchObject(after);
  });

  it('fails when asked to', async () => {
    const annotations = { 'berth.dev/simulate': 'fail', 'berth.dev/ready-after': '3s' };
    await cluster.create(kindOf('batch', 'Job'), workload('batch', 'Job', {}, annotations));
    expect(await statusAfter('batch', 'Job', 2_500)).toMatchObject({ active: 1 });
    expect(await statusAfter('batch', 'Job', 600)).toMatchObject({
      failed: 1,
      conditions: [{ type: 'Failed', status: 'True' }],
    });
  });

  it('says nothing of zero replicas, as an API server does: else it would be written again and again', async () => {
    await cluster.create(kindOf('apps', 'Deployment'), workload('apps', 'Deployment', { replicas: 0 }));
    const status = await statusAfter('apps', 'Deployment', 1_500);
    expect(Object.values(status)).not.toContain(0);
    expect(status).toMatchObject({ conditions: [{ type: 'Available', status: 'True' }, {}] });
  });

  it('a new version is not ready at once, and at rest nothing is written', async () => {
    const kind = kindOf('apps', 'Deployment');
    await cluster.create(kind, workload('apps', 'Deployment', { replicas: 2 }));
    await statusAfter('apps', 'Deployment', 2_000);
    await cluster.mergePatch(kind, { namespace: 'default', name: 'w' }, { spec: { replicas: 4 } });
    expect((await statusAfter('apps', 'Deployment', 500))['readyReplicas']).toBeUndefined();
    expect((await statusAfter('apps', 'Deployment', 600))['readyReplicas']).toBe(4);
    const writes = cluster.writes.length;
    await clock.advance(3_600_000);
    expect(cluster.writes.length).toBe(writes);
  });
});
