import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InputError, TransientError } from '@berth/runtime/errors';
import { APPLIED_MANIFEST_WORK, kind, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { type Life, MortalKubeApi } from '@berth/test-kit/mortal-kube-api';
import {
  AgentHarness,
  CONFIG_MAP,
  configMap,
  DEPLOYMENT,
  workOf,
} from '../../packages/agent/test/agent-harness.ts';

const SECRET = kind('', 'v1', 'Secret', 'Namespaced');

let harness: AgentHarness;

beforeEach(async () => {
  harness = new AgentHarness();
  await harness.start();
});

afterEach(() => harness.stop());

describe('a work is applied', () => {
  it('creates its objects, owns and lists them, reports both conditions', async () => {
    await harness.applyWork('web', workOf(configMap('a'), configMap('b')));
    const applied = await harness.applied('web');
    expect(await harness.conditions('web')).toBe('Applied=True@1 Available=True@1');
    expect((await harness.configMap('a'))?.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'work.open-cluster-management.io/v1',
        kind: 'AppliedManifestWork',
        name: applied?.metadata.name,
        uid: applied?.metadata.uid,
      },
    ]);
    expect(applied?.status?.appliedResources?.map(({ resource, name }) => `${resource}/${name}`)).toEqual([
      'configmaps/a',
      'configmaps/b',
    ]);
    expect((await harness.work('web'))?.metadata.finalizers).toEqual([
      'cluster.open-cluster-management.io/manifest-work-cleanup',
    ]);
  });

  it.each([1, 2])('is reported as failed when it failed twice in a row, not once: %i', async (failures) => {
    await harness.applyWork('web', workOf(configMap('a')));
    const update = harness.cluster.update.bind(harness.cluster);
    let left = failures;
    harness.cluster.update = (kind, object, options) => {
      if (left === 0) return update(kind, object, options);
      left -= 1;
      return Promise.reject(new TransientError('no answer', { code: 'kube.timeout', subject: 'a' }));
    };
    await harness.applyWork('web', workOf(configMap('a', { x: '2' })));
    expect(await harness.conditions('web')).toBe('Applied=True@2 Available=True@2');
    expect(harness.events.filter(({ kind }) => kind === 'failed')).toHaveLength(failures - 1);
  });

  it('is available at a generation when its workloads have seen what was applied', async () => {
    const deployment = (replicas: number): KubeObject => ({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas } },
      metadata: { name: 'a', namespace: 'default' },
    });
    const key = { namespace: 'default', name: 'a' };
    const seen = async (observedGeneration: number): Promise<void> => {
      const status = { observedGeneration };
      await harness.cluster.mergePatch(DEPLOYMENT, key, { status }, { subresource: 'status' });
      await harness.settle();
    };
    await harness.applyWork('web', workOf(deployment(1)));
    await seen(1);
    expect(await harness.conditions('web')).toBe('Applied=True@1 Available=True@1');
    await harness.applyWork('web', workOf(deployment(2)));
    expect(await harness.conditions('web')).toBe('Applied=True@2 Available=True@1');
    await seen(2);
    expect(await harness.conditions('web')).toBe('Applied=True@2 Available=True@2');
  });

  it('keeps a field that the server does not let it remove, and tries that once', async () => {
    const deployment = (replicas: number): KubeObject => ({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas } },
      metadata: { name: 'a', namespace: 'default' },
    });
    const key = { namespace: 'default', name: 'a' };
    const update = harness.cluster.update.bind(harness.cluster);
    let refusals = 0;
    harness.cluster.update = (kind, object, options) => {
      if ((object['spec'] as { assigned?: string }).assigned === 'x') return update(kind, object, options);
      refusals += 1;
      return Promise.reject(new InputError('is immutable', { code: 'kube.invalid', subject: 'a' }));
    };
    await harness.applyWork('web', workOf(deployment(1)));
    await harness.cluster.mergePatch(DEPLOYMENT, key, { spec: { assigned: 'x' } });
    await harness.settle();
    expect(await harness.conditions('web')).toBe('Applied=True@1 Available=True@1');
    await harness.applyWork('web', workOf(deployment(2)));
    expect(await harness.conditions('web')).toBe('Applied=True@2 Available=True@2');
    expect((await harness.cluster.get(DEPLOYMENT, key))?.['spec']).toEqual({ replicas: 2, assigned: 'x' });
    expect(refusals).toBe(1);
    // A change that is refused in any case is reported.
    harness.cluster.update = () =>
      Promise.reject(new InputError('is immutable', { code: 'kube.invalid', subject: 'a' }));
    await harness.applyWork('web', workOf(deployment(3)));
    expect(await harness.conditions('web')).toContain('Applied=False@3');
  });

  it('replaces what cannot be changed, but never what took its place meanwhile', async () => {
    const secret = (type: string): KubeObject => ({
      ...{ apiVersion: 'v1', kind: 'Secret', type },
      metadata: { name: 'a', namespace: 'default' },
    });
    harness.cluster.addKind(SECRET);
    const key = { namespace: 'default', name: 'a' };
    const uid = async () => (await harness.cluster.get(SECRET, key))?.metadata.uid;
    await harness.applyWork('web', workOf(secret('one')));
    const first = await uid();
    const remove = harness.cluster.delete.bind(harness.cluster);
    let other: string | undefined;
    harness.cluster.delete = async (kind, at, options) => {
      if (kind.kind === 'Secret' && other === undefined) {
        await remove(SECRET, key);
        other = (await harness.cluster.create(SECRET, secret('two'))).metadata.uid;
      }
      return remove(kind, at, options);
    };
    await harness.applyWork('web', workOf(secret('two')));
    expect(other).toBeDefined();
    expect(await uid()).toBe(other);
    await harness.applyWork('web', workOf(secret('three')));
    expect([first, other, undefined]).not.toContain(await uid());
    expect(await harness.conditions('web')).toBe('Applied=True@3 Available=True@3');
  });

  it('is tried again a minute after its executor was refused, and then each minute', async () => {
    let isAllowed = false;
    let reviews = 0;
    const create = harness.cluster.create.bind(harness.cluster);
    harness.cluster.create = (kind, object, options) => {
      if (kind.kind !== 'SubjectAccessReview') return create(kind, object, options);
      reviews += 1;
      return Promise.resolve({ ...object, status: { allowed: isAllowed } });
    };
    const subject = {
      type: 'ServiceAccount' as const,
      serviceAccount: { namespace: 'default', name: 'runner' },
    };
    await harness.applyWork('web', { ...workOf(configMap('a')), executor: { subject } });
    expect(await harness.conditions('web')).toContain('Applied=False@1');
    const asked = reviews;
    await harness.clock.advance(50_000);
    expect(reviews).toBe(asked);
    await harness.clock.advance(60_000);
    expect(reviews).toBeGreaterThan(asked);
    expect(await harness.configMap('a')).toBeUndefined();
    isAllowed = true;
    await harness.clock.advance(60_000);
    expect(await harness.configMap('a')).toBeDefined();
    expect(await harness.conditions('web')).toContain('Applied=True@1');
  });

  it('updates, and removes what left the work', async () => {
    await harness.applyWork('web', workOf(configMap('a'), configMap('b')));
    await harness.applyWork('web', workOf(configMap('a', { x: '2' })));
    expect((await harness.configMap('a'))?.['data']).toEqual({ x: '2' });
    expect(await harness.configMap('b')).toBeUndefined();
    expect(await harness.conditions('web')).toBe('Applied=True@2 Available=True@2');
  });

  it.each(['hub', 'cluster'] as const)(
    'is reported soon though a status write to the %s failed once',
    async (side) => {
      // With the watch up already, no first list of it calls for a second look.
      await harness.applyWork('first', workOf(configMap('b')));
      const api = harness[side];
      const write = api.mergePatch.bind(api);
      let failures = 0;
      api.mergePatch = (kind, key, patch, options) => {
        if (options?.subresource !== 'status' || failures > 0) return write(kind, key, patch, options);
        failures += 1;
        return Promise.reject(new TransientError('no answer', { code: 'kube.timeout', subject: key.name }));
      };
      await harness.applyWork('web', workOf(configMap('a')));
      expect(failures).toBe(1);
      expect(await harness.conditions('web')).toBe('Applied=True@1 Available=True@1');
      expect((await harness.applied('web'))?.status?.appliedResources).toHaveLength(1);
    },
  );

  it('goes with the work', async () => {
    await harness.applyWork('web', workOf(configMap('a')));
    await harness.deleteWork('web');
    expect(await harness.work('web')).toBeUndefined();
    expect(await harness.applied('web')).toBeUndefined();
    expect(await harness.configMap('a')).toBeUndefined();
  });

  it('one failing manifest does not stop the others, nothing is cleaned up meanwhile', async () => {
    await harness.applyWork('web', workOf(configMap('a'), configMap('b')));
    const unknown = { apiVersion: 'x.example.com/v1', kind: 'Nothing', metadata: { name: 'n' } };
    await harness.applyWork('web', workOf(configMap('a', { x: '2' }), unknown));
    expect((await harness.configMap('a'))?.['data']).toEqual({ x: '2' });
    expect(await harness.configMap('b')).toBeDefined();
    expect(await harness.conditions('web')).toBe('Applied=False@2 Available=Unknown@2');
    await harness.applyWork('web', workOf(configMap('a', { x: '2' })));
    expect(await harness.configMap('b')).toBeUndefined();
  });
});

describe('at rest', () => {
  it('makes no writes and no reads, at the resync neither', async () => {
    await harness.applyWork('web', workOf(configMap('a')));
    await harness.settle(60_000);
    // Watches are opened again now and then, and then one object is compared with the server.
    const requests = ({ requests: lines }: { readonly requests: readonly string[] }): readonly string[] =>
      lines.filter((line) => !/^WATCH |^LIST \S+ metadata\.name=/.test(line));
    const before = [requests(harness.hub), requests(harness.cluster)];
    await harness.settle(3_600_000);
    expect([requests(harness.hub), requests(harness.cluster)]).toEqual(before);
  });

  it('a restart writes nothing', async () => {
    await harness.applyWork('web', workOf(configMap('a')));
    await harness.stop();
    const writes = [...harness.hub.writes, ...harness.cluster.writes].length;
    await harness.start();
    await harness.settle(60_000);
    expect([...harness.hub.writes, ...harness.cluster.writes].slice(writes)).toEqual([]);
  });
});

describe('drift', () => {
  it('a changed object is put right, a deleted one comes back', async () => {
    await harness.applyWork('web', workOf(configMap('a')));
    await harness.settle();
    await harness.cluster.mergePatch(
      CONFIG_MAP,
      { namespace: 'default', name: 'a' },
      { data: { x: 'drift' } },
    );
    await harness.settle();
    expect((await harness.configMap('a'))?.['data']).toEqual({ x: '1' });
    await harness.cluster.delete(CONFIG_MAP, { namespace: 'default', name: 'a' });
    await harness.settle();
    expect((await harness.configMap('a'))?.['data']).toEqual({ x: '1' });
  });

  it('two works that want different content do not fight', async () => {
    await harness.applyWork('one', workOf(configMap('a', { x: 'one' })));
    await harness.applyWork('two', workOf(configMap('a', { x: 'two' })));
    await harness.settle();
    const writes = harness.cluster.writes.length;
    await harness.settle(60_000);
    expect((await harness.configMap('a'))?.['data']).toEqual({ x: 'two' });
    expect(harness.cluster.writes.length).toBe(writes);
  });

  it.each(['Update', 'ServerSideApply'] as const)(
    'nor do they while nothing can be reported, with strategy %s',
    async (type) => {
      await harness.stop();
      const life: Life = { dead: false, writesLeft: Infinity, lastIsDone: false };
      const hub = new MortalKubeApi(harness.hub, { ...life });
      await harness.start({ hub, cluster: new MortalKubeApi(harness.cluster, life) });
      const manifestConfigs = [
        {
          resourceIdentifier: { resource: 'configmaps', name: '*', namespace: '*' },
          updateStrategy: { type },
        },
      ];
      const wanting = (x: string) => ({ ...workOf(configMap('a', { x })), manifestConfigs });
      for (const name of ['one', 'two']) await harness.applyWork(name, wanting('same'));
      // A fight without a pause would not let the test end either.
      life.writesLeft = 100;
      hub.failNext(Infinity);
      await harness.applyWork('one', wanting('one'));
      await harness.applyWork('two', wanting('two'));
      await harness.settle(60_000);
      hub.failNext(0);
      await harness.settle(600_000);
      expect(life.dead).toBe(false);
      expect(await harness.conditions('one')).toBe('Applied=True@2 Available=True@2');
      expect(await harness.conditions('two')).toBe('Applied=True@2 Available=True@2');
    },
  );

  it('somebody who always changes it back is answered ever more slowly', async () => {
    await harness.applyWork('web', workOf(configMap('a')));
    await harness.settle();
    let fights = 0;
    for (let second = 0; second < 120; second++) {
      const live = await harness.configMap('a');
      if ((live?.['data'] as { x: string }).x === '1') {
        fights += 1;
        await harness.cluster.mergePatch(
          CONFIG_MAP,
          { namespace: 'default', name: 'a' },
          { data: { x: 'drift' } },
        );
      }
      await harness.clock.advance(1_000);
    }
    expect(fights).toBeLessThan(15);
  });

  it('with drift: resync it waits for the resync', async () => {
    await harness.stop();
    await harness.start({ drift: 'resync' });
    await harness.applyWork('web', workOf(configMap('a')));
    await harness.settle();
    await harness.cluster.mergePatch(
      CONFIG_MAP,
      { namespace: 'default', name: 'a' },
      { data: { x: 'drift' } },
    );
    await harness.settle(60_000);
    expect((await harness.configMap('a'))?.['data']).toEqual({ x: 'drift' });
    await harness.settle(360_000);
    expect((await harness.configMap('a'))?.['data']).toEqual({ x: '1' });
  });
});

describe('eviction', () => {
  const forceDelete = async (name: string): Promise<void> => {
    const key = { namespace: 'cluster1', name };
    await harness.hub.mergePatch(MANIFEST_WORK, key, { metadata: { finalizers: [] } });
    await harness.hub.delete(MANIFEST_WORK, key);
    await harness.settle();
  };

  it('a work that vanished keeps its objects for the grace period', async () => {
    await harness.applyWork('web', workOf(configMap('a')));
    await harness.stop();
    await forceDelete('web');
    await harness.start({ evictionGraceMs: 600_000 });
    expect((await harness.applied('web'))?.status?.evictionStartTime).toBeDefined();
    await harness.settle(500_000);
    expect(await harness.configMap('a')).toBeDefined();
    await harness.settle(200_000);
    expect(await harness.configMap('a')).toBeUndefined();
    expect(await harness.applied('web')).toBeUndefined();
  });

  it('a work that comes back in time stops the clock', async () => {
    await harness.applyWork('web', workOf(configMap('a')));
    const before = await harness.configMap('a');
    await harness.stop();
    await forceDelete('web');
    await harness.start({ evictionGraceMs: 600_000 });
    await harness.applyWork('web', workOf(configMap('a')));
    expect((await harness.applied('web'))?.status?.evictionStartTime).toBeUndefined();
    await harness.settle(1_200_000);
    expect((await harness.configMap('a'))?.metadata.uid).toBe(before?.metadata.uid);
  });

  it('those of another agent are left alone', async () => {
    await harness.cluster.create(APPLIED_MANIFEST_WORK, {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'AppliedManifestWork',
      metadata: { name: 'other-web' },
      spec: { hubHash: 'other', agentID: 'somebody', manifestWorkName: 'web' },
    });
    await harness.settle(7_200_000);
    const left = await harness.cluster.get(APPLIED_MANIFEST_WORK, { namespace: '', name: 'other-web' });
    expect(left?.['status']).toBeUndefined();
  });
});

describe('objects that cannot be watched', () => {
  it('are read at the interval, and put right with the resync', async () => {
    await harness.stop();
    await harness.start({ maxWatches: 0, statusSyncIntervalMs: 10_000 });
    const feedback = { type: 'JSONPaths' as const, jsonPaths: [{ name: 'x', path: '.data.x' }] };
    const resourceIdentifier = { resource: 'configmaps', name: 'a', namespace: 'default' };
    const updateStrategy = { type: 'CreateOnly' as const };
    await harness.applyWork('web', {
      ...workOf(configMap('a')),
      manifestConfigs: [{ resourceIdentifier, updateStrategy, feedbackRules: [feedback] }],
    });
    await harness.cluster.mergePatch(CONFIG_MAP, { namespace: 'default', name: 'a' }, { data: { x: 'new' } });
    await harness.settle(20_000);
    const work = await harness.work('web');
    expect(work?.status?.resourceStatus?.manifests?.[0]?.statusFeedback?.values).toEqual([
      { name: 'x', fieldValue: { type: 'String', string: 'new' } },
    ]);
    await harness.cluster.delete(CONFIG_MAP, { namespace: 'default', name: 'a' });
    await harness.settle(20_000);
    expect(await harness.conditions('web')).toBe('Applied=True@1 Available=False@1');
    await harness.settle(360_000);
    expect(await harness.conditions('web')).toBe('Applied=True@1 Available=True@1');
  });
});
