import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AgentEvent } from '@berth/agent/options/agent-options';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { AgentBesideControllers } from './agent-beside-controllers.ts';

const kindOf = (group: string, kind: string, plural: string): KindInfo => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced: true,
});
const DEPLOYMENT = kindOf('apps', 'Deployment', 'deployments');
const JOB = kindOf('batch', 'Job', 'jobs');
const CLAIM = kindOf('', 'PersistentVolumeClaim', 'persistentvolumeclaims');
const SERVICE = kindOf('', 'Service', 'services');
const CONFIG_MAP = kindOf('', 'ConfigMap', 'configmaps');

/**
 * Fields that come back: the same on the embedded hub and on kube-apiserver.
 * @param server hub and managed cluster, read in each test
 */
export function fieldsThatOthersAdd(server: () => KubeApi): void {
  let turn = 0;
  let agent: AgentBesideControllers;
  beforeEach(async () => {
    turn += 1;
    agent = new AgentBesideControllers(server(), `added-${String(turn)}`);
    await agent.makeNamespace();
    await agent.start();
  });
  afterEach(() => agent.stop());

  const deployment = (image: string): KubeObject =>
    agent.object('apps/v1', 'Deployment', {
      spec: {
        selector: { matchLabels: { app: 'a' } },
        template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image }] } },
      },
    });
  const spec = async (kind: KindInfo): Promise<Record<string, unknown>> =>
    ((await agent.read(kind))?.['spec'] ?? {}) as Record<string, unknown>;
  const scale = (replicas: number) => agent.byOther(DEPLOYMENT, { spec: { replicas } });
  const imageOf = async () =>
    (await spec(DEPLOYMENT))['template'] as { spec: { containers: readonly { image: string }[] } };

  it('Update: replicas that the manifest does not name are reset once, and left alone when they come back', async () => {
    await agent.applied(deployment('web:1'));
    await scale(3);
    await expect.poll(async () => (await spec(DEPLOYMENT))['replicas']).toBe(1);
    await scale(3);
    await scale(5);
    expect(await agent.writesAtRest()).toEqual([]);
    expect((await spec(DEPLOYMENT))['replicas']).toBe(5);

    // Fields that the manifest names are still Git's, and a change of the manifest arrives.
    const patch = { spec: { template: { spec: { containers: [{ name: 'a', image: 'web:by-hand' }] } } } };
    await agent.byOther(DEPLOYMENT, patch, 'kubectl-edit');
    await expect.poll(async () => (await imageOf()).spec.containers[0]?.image).toBe('web:1');
    await agent.applied(deployment('web:2'));
    expect((await imageOf()).spec.containers[0]?.image).toBe('web:2');
    expect((await spec(DEPLOYMENT))['replicas']).toBe(5);

    await agent.start();
    expect(await agent.writesAtRest()).toEqual([]);
    expect((await spec(DEPLOYMENT))['replicas']).toBe(5);
    await scale(6);
    expect(await agent.writesAtRest()).toEqual([]);
    expect((await spec(DEPLOYMENT))['replicas']).toBe(6);
    // What the manifest names in its next version is Git's.
    const named = deployment('web:2');
    await agent.applied({ ...named, spec: { ...(named['spec'] as object), replicas: 2 } });
    expect((await spec(DEPLOYMENT))['replicas']).toBe(2);
  });

  it('Update: a key that a controller adds to the data is removed once, and left alone when it comes back', async () => {
    const manifest = agent.object('v1', 'ConfigMap', { data: { a: '1' } });
    await agent.applied(manifest);
    await agent.byOther(CONFIG_MAP, { data: { bundle: 'x' } });
    await expect.poll(async () => (await agent.read(CONFIG_MAP))?.['data']).toEqual({ a: '1' });
    await agent.byOther(CONFIG_MAP, { data: { bundle: 'x' } });
    expect(await agent.writesAtRest()).toEqual([]);
    await agent.byOther(CONFIG_MAP, { data: { a: 'by hand', bundle: 'y' } });
    await expect.poll(async () => (await agent.read(CONFIG_MAP))?.['data']).toEqual({ a: '1', bundle: 'y' });
    await agent.byOther(CONFIG_MAP, { data: { other: 'x' } }, 'kubectl-edit');
    await expect.poll(async () => (await agent.read(CONFIG_MAP))?.['data']).toEqual({ a: '1', bundle: 'y' });
  });

  it('Update: a claim that was bound stays bound, is applied, and can be changed', async () => {
    const claim = (labels: Record<string, string>): KubeObject => {
      const object = agent.object('v1', 'PersistentVolumeClaim', {
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'manual',
          resources: { requests: { storage: '1Gi' } },
        },
      });
      return { ...object, metadata: { ...object.metadata, labels } };
    };
    await agent.applied(claim({ version: '1' }));
    await agent.byOther(CLAIM, {
      metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: { volumeName: 'volume-1' },
    });
    await expect.poll(() => agent.writes).toContain('update persistentvolumeclaims');
    // It is refused, and tried once more with the volume.
    await agent.writesAtRest();
    expect(await agent.writesAtRest()).toEqual([]);
    expect(await agent.appliedCondition()).toBe('True');
    expect((await spec(CLAIM))['volumeName']).toBe('volume-1');
    await agent.applied(claim({ version: '2' }));
    expect(await agent.read(CLAIM)).toMatchObject({
      metadata: { labels: { version: '2' } },
      spec: { volumeName: 'volume-1' },
    });
    await agent.start();
    expect(await agent.writesAtRest()).toEqual([]);
    // A new process does not know that the volume cannot be removed.
    await agent.applied(claim({ version: '3' }));
    expect(await agent.read(CLAIM)).toMatchObject({
      metadata: { labels: { version: '3' } },
      spec: { volumeName: 'volume-1' },
    });
    expect(await agent.writesAtRest()).toEqual([]);
  });

  it('Update: what the server gives a Job is left alone, in every later pass', async () => {
    const failures: AgentEvent[] = [];
    const onEvent = (event: AgentEvent): void => void (event.kind === 'failed' && failures.push(event));
    await agent.start({ onEvent });
    const job = (content: object = {}): KubeObject =>
      agent.object('batch/v1', 'Job', {
        spec: {
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'x' }] } },
          ...content,
        },
      });
    await agent.applied([job(), deployment('web:1')]);
    const created = await agent.read(JOB);
    const asCreated = { metadata: { uid: created?.metadata.uid, generation: 1 }, spec: created?.['spec'] };
    // As the controller of Deployments does: each is a reason for a pass.
    for (const revision of ['1', '2'])
      await agent.byOther(DEPLOYMENT, { metadata: { annotations: { revision } }, spec: { replicas: 3 } });
    await agent.writesAtRest();
    // A change beside it, in another order, and after a restart.
    await agent.applied([deployment('web:2'), job()]);
    await agent.stop();
    await agent.apply([job(), deployment('web:3')]);
    await agent.start({ onEvent });
    await expect.poll(() => agent.appliedCondition()).toBe('True');
    expect(await agent.read(JOB)).toMatchObject(asCreated);

    // What can be changed is changed, and what left the manifest goes, although the selector must stay.
    await agent.applied([job({ ttlSecondsAfterFinished: 9, suspend: true }), deployment('web:3')]);
    expect(await spec(JOB)).toMatchObject({ ttlSecondsAfterFinished: 9, suspend: true });
    await agent.stop();
    await agent.apply([job({ suspend: true }), deployment('web:3')]);
    await agent.start({ onEvent });
    await expect.poll(() => agent.appliedCondition()).toBe('True');
    expect((await spec(JOB))['ttlSecondsAfterFinished']).toBeUndefined();
    expect(failures).toEqual([]);
  });

  it('Update: what the server gives a Service is left alone', async () => {
    await agent.applied(agent.object('v1', 'Service', { spec: { type: 'NodePort', ports: [{ port: 80 }] } }));
    const before = await spec(SERVICE);
    const touched = await agent.byOther(SERVICE, { metadata: { annotations: { touched: 'yes' } } });
    // One request that changes nothing, at most.
    await agent.writesAtRest();
    expect(await agent.writesAtRest()).toEqual([]);
    await agent.start();
    expect(await agent.writesAtRest()).toEqual([]);
    expect(await spec(SERVICE)).toEqual(before);
    expect((await agent.read(SERVICE))?.metadata.resourceVersion).toBe(touched.metadata.resourceVersion);
  });

  it('Update: what changed while the agent was away is put right when it returns', async () => {
    const manifest = (data: Record<string, string>): KubeObject => {
      const object = agent.object('v1', 'ConfigMap', { data });
      return { ...object, metadata: { ...object.metadata, labels: { version: '1' } } };
    };
    await agent.applied(manifest({ a: '1', b: '1' }));
    await agent.stop();
    await agent.byOther(CONFIG_MAP, { metadata: { labels: { version: 'theirs' } } });
    await agent.start();
    await expect.poll(async () => (await agent.read(CONFIG_MAP))?.metadata.labels).toEqual({ version: '1' });
    await agent.stop();
    await agent.apply([manifest({ a: '1' })]);
    await agent.start();
    await expect.poll(async () => (await agent.read(CONFIG_MAP))?.['data']).toEqual({ a: '1' });
    await expect.poll(() => agent.appliedCondition()).toBe('True');
  });

  it('a manifest is applied when its namespace comes, which the agent waits for', async () => {
    const name = `late-${String(turn)}`;
    const manifest = agent.object('v1', 'ConfigMap', { data: { a: '1' } });
    const late = { ...manifest, metadata: { ...manifest.metadata, namespace: name } };
    await agent.apply([manifest, late]);
    await expect.poll(() => agent.appliedCondition()).toBe('False');
    await expect.poll(() => agent.watches).toContain('namespaces');
    await agent.makeNamespace(name);
    await expect.poll(() => agent.appliedCondition()).toBe('True');
    expect(await server().get(CONFIG_MAP, { namespace: name, name: 'a' })).toMatchObject({
      data: { a: '1' },
    });
  });

  it.each(['ServerSideApply', 'CreateOnly'] as const)(
    '%s: replicas of another manager stay',
    async (type) => {
      await agent.applied(deployment('web:1'), { type });
      await scale(3);
      await scale(5);
      await agent.writesAtRest();
      const { resourceVersion } = (await agent.read(DEPLOYMENT))?.metadata ?? {};
      await agent.start();
      await agent.writesAtRest();
      const live = await agent.read(DEPLOYMENT);
      expect(live).toMatchObject({ metadata: { resourceVersion }, spec: { replicas: 5 } });
      expect(await agent.writesAtRest()).toEqual([]);
    },
  );
}
