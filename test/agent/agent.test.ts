import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransientError } from '../../src/core/errors.ts';
import { APPLIED_MANIFEST_WORK, MANIFEST_WORK } from '../../src/core/model/kinds.ts';
import { type Life, MortalKubeApi } from '../fakes/mortal-kube-api.ts';
import { AgentWorld, CONFIG_MAP, configMap, workOf } from './agent-world.ts';

let world: AgentWorld;

beforeEach(async () => {
  world = new AgentWorld();
  await world.start();
});

afterEach(() => world.stop());

describe('a work is applied', () => {
  it('creates its objects, owns and lists them, reports both conditions', async () => {
    await world.applyWork('web', workOf(configMap('a'), configMap('b')));
    const applied = await world.applied('web');
    expect(await world.conditions('web')).toBe('Applied=True@1 Available=True@1');
    expect((await world.configMap('a'))?.metadata.ownerReferences).toEqual([
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
    expect((await world.work('web'))?.metadata.finalizers).toEqual([
      'cluster.open-cluster-management.io/manifest-work-cleanup',
    ]);
  });

  it('updates, and removes what left the work', async () => {
    await world.applyWork('web', workOf(configMap('a'), configMap('b')));
    await world.applyWork('web', workOf(configMap('a', { x: '2' })));
    expect((await world.configMap('a'))?.['data']).toEqual({ x: '2' });
    expect(await world.configMap('b')).toBeUndefined();
    expect(await world.conditions('web')).toBe('Applied=True@2 Available=True@2');
  });

  it.each(['hub', 'cluster'] as const)(
    'is reported soon though a status write to the %s failed once',
    async (side) => {
      // With the watch up already, no first list of it calls for a second look.
      await world.applyWork('first', workOf(configMap('b')));
      const api = world[side];
      const write = api.mergePatch.bind(api);
      let failures = 0;
      api.mergePatch = (kind, key, patch, options) => {
        if (options?.subresource !== 'status' || failures > 0) return write(kind, key, patch, options);
        failures += 1;
        return Promise.reject(new TransientError('no answer', { code: 'kube.timeout', subject: key.name }));
      };
      await world.applyWork('web', workOf(configMap('a')));
      expect(failures).toBe(1);
      expect(await world.conditions('web')).toBe('Applied=True@1 Available=True@1');
      expect((await world.applied('web'))?.status?.appliedResources).toHaveLength(1);
    },
  );

  it('goes with the work', async () => {
    await world.applyWork('web', workOf(configMap('a')));
    await world.deleteWork('web');
    expect(await world.work('web')).toBeUndefined();
    expect(await world.applied('web')).toBeUndefined();
    expect(await world.configMap('a')).toBeUndefined();
  });

  it('one failing manifest does not stop the others, nothing is cleaned up meanwhile', async () => {
    await world.applyWork('web', workOf(configMap('a'), configMap('b')));
    const unknown = { apiVersion: 'x.example.com/v1', kind: 'Nothing', metadata: { name: 'n' } };
    await world.applyWork('web', workOf(configMap('a', { x: '2' }), unknown));
    expect((await world.configMap('a'))?.['data']).toEqual({ x: '2' });
    expect(await world.configMap('b')).toBeDefined();
    expect(await world.conditions('web')).toBe('Applied=False@2 Available=Unknown@2');
    await world.applyWork('web', workOf(configMap('a', { x: '2' })));
    expect(await world.configMap('b')).toBeUndefined();
  });
});

describe('at rest', () => {
  it('makes no writes and no reads, at the resync neither', async () => {
    await world.applyWork('web', workOf(configMap('a')));
    await world.settle(60_000);
    // Watches are opened anew now and then.
    const requests = (): readonly string[] =>
      [...world.hub.requests, ...world.cluster.requests].filter((line) => !line.startsWith('WATCH '));
    const before = requests().length;
    await world.settle(3_600_000);
    expect(requests().slice(before)).toEqual([]);
  });

  it('a restart writes nothing', async () => {
    await world.applyWork('web', workOf(configMap('a')));
    await world.stop();
    const writes = [...world.hub.writes, ...world.cluster.writes].length;
    await world.start();
    await world.settle(60_000);
    expect([...world.hub.writes, ...world.cluster.writes].slice(writes)).toEqual([]);
  });
});

describe('drift', () => {
  it('a changed object is put right, a deleted one comes back', async () => {
    await world.applyWork('web', workOf(configMap('a')));
    await world.settle();
    await world.cluster.mergePatch(CONFIG_MAP, { namespace: 'default', name: 'a' }, { data: { x: 'drift' } });
    await world.settle();
    expect((await world.configMap('a'))?.['data']).toEqual({ x: '1' });
    await world.cluster.delete(CONFIG_MAP, { namespace: 'default', name: 'a' });
    await world.settle();
    expect((await world.configMap('a'))?.['data']).toEqual({ x: '1' });
  });

  it('two works that want different content do not fight', async () => {
    await world.applyWork('one', workOf(configMap('a', { x: 'one' })));
    await world.applyWork('two', workOf(configMap('a', { x: 'two' })));
    await world.settle();
    const writes = world.cluster.writes.length;
    await world.settle(60_000);
    expect((await world.configMap('a'))?.['data']).toEqual({ x: 'two' });
    expect(world.cluster.writes.length).toBe(writes);
  });

  it.each(['Update', 'ServerSideApply'] as const)(
    'nor do they while nothing can be reported, with strategy %s',
    async (type) => {
      await world.stop();
      const life: Life = { dead: false, writesLeft: Infinity, lastIsDone: false };
      const hub = new MortalKubeApi(world.hub, { ...life });
      await world.start({ hub, cluster: new MortalKubeApi(world.cluster, life) });
      const manifestConfigs = [
        {
          resourceIdentifier: { resource: 'configmaps', name: '*', namespace: '*' },
          updateStrategy: { type },
        },
      ];
      const wanting = (x: string) => ({ ...workOf(configMap('a', { x })), manifestConfigs });
      for (const name of ['one', 'two']) await world.applyWork(name, wanting('same'));
      // A fight without a pause would not let the test end either.
      life.writesLeft = 100;
      hub.failNext(Infinity);
      await world.applyWork('one', wanting('one'));
      await world.applyWork('two', wanting('two'));
      await world.settle(60_000);
      hub.failNext(0);
      await world.settle(600_000);
      expect(life.dead).toBe(false);
      expect(await world.conditions('one')).toBe('Applied=True@2 Available=True@2');
      expect(await world.conditions('two')).toBe('Applied=True@2 Available=True@2');
    },
  );

  it('somebody who always changes it back is answered ever more slowly', async () => {
    await world.applyWork('web', workOf(configMap('a')));
    await world.settle();
    let fights = 0;
    for (let second = 0; second < 120; second++) {
      const live = await world.configMap('a');
      if ((live?.['data'] as { x: string }).x === '1') {
        fights += 1;
        await world.cluster.mergePatch(
          CONFIG_MAP,
          { namespace: 'default', name: 'a' },
          { data: { x: 'drift' } },
        );
      }
      await world.clock.advance(1_000);
    }
    expect(fights).toBeLessThan(15);
  });

  it('with drift: resync it waits for the resync', async () => {
    await world.stop();
    await world.start({ drift: 'resync' });
    await world.applyWork('web', workOf(configMap('a')));
    await world.settle();
    await world.cluster.mergePatch(CONFIG_MAP, { namespace: 'default', name: 'a' }, { data: { x: 'drift' } });
    await world.settle(60_000);
    expect((await world.configMap('a'))?.['data']).toEqual({ x: 'drift' });
    await world.settle(360_000);
    expect((await world.configMap('a'))?.['data']).toEqual({ x: '1' });
  });
});

describe('eviction', () => {
  const forceDelete = async (name: string): Promise<void> => {
    const key = { namespace: 'cluster1', name };
    await world.hub.mergePatch(MANIFEST_WORK, key, { metadata: { finalizers: [] } });
    await world.hub.delete(MANIFEST_WORK, key);
    await world.settle();
  };

  it('a work that vanished keeps its objects for the grace period', async () => {
    await world.applyWork('web', workOf(configMap('a')));
    await world.stop();
    await forceDelete('web');
    await world.start({ evictionGraceMs: 600_000 });
    expect((await world.applied('web'))?.status?.evictionStartTime).toBeDefined();
    await world.settle(500_000);
    expect(await world.configMap('a')).toBeDefined();
    await world.settle(200_000);
    expect(await world.configMap('a')).toBeUndefined();
    expect(await world.applied('web')).toBeUndefined();
  });

  it('a work that comes back in time stops the clock', async () => {
    await world.applyWork('web', workOf(configMap('a')));
    const before = await world.configMap('a');
    await world.stop();
    await forceDelete('web');
    await world.start({ evictionGraceMs: 600_000 });
    await world.applyWork('web', workOf(configMap('a')));
    expect((await world.applied('web'))?.status?.evictionStartTime).toBeUndefined();
    await world.settle(1_200_000);
    expect((await world.configMap('a'))?.metadata.uid).toBe(before?.metadata.uid);
  });

  it('those of another agent are left alone', async () => {
    await world.cluster.create(APPLIED_MANIFEST_WORK, {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'AppliedManifestWork',
      metadata: { name: 'other-web' },
      spec: { hubHash: 'other', agentID: 'somebody', manifestWorkName: 'web' },
    });
    await world.settle(7_200_000);
    const left = await world.cluster.get(APPLIED_MANIFEST_WORK, { namespace: '', name: 'other-web' });
    expect(left?.['status']).toBeUndefined();
  });
});

describe('objects that cannot be watched', () => {
  it('are read at the interval, and put right with the resync', async () => {
    await world.stop();
    await world.start({ maxWatches: 0, statusSyncIntervalMs: 10_000 });
    const feedback = { type: 'JSONPaths' as const, jsonPaths: [{ name: 'x', path: '.data.x' }] };
    const resourceIdentifier = { resource: 'configmaps', name: 'a', namespace: 'default' };
    const updateStrategy = { type: 'CreateOnly' as const };
    await world.applyWork('web', {
      ...workOf(configMap('a')),
      manifestConfigs: [{ resourceIdentifier, updateStrategy, feedbackRules: [feedback] }],
    });
    await world.cluster.mergePatch(CONFIG_MAP, { namespace: 'default', name: 'a' }, { data: { x: 'new' } });
    await world.settle(20_000);
    const work = await world.work('web');
    expect(work?.status?.resourceStatus?.manifests?.[0]?.statusFeedback?.values).toEqual([
      { name: 'x', fieldValue: { type: 'String', string: 'new' } },
    ]);
    await world.cluster.delete(CONFIG_MAP, { namespace: 'default', name: 'a' });
    await world.settle(20_000);
    expect(await world.conditions('web')).toBe('Applied=True@1 Available=False@1');
    await world.settle(360_000);
    expect(await world.conditions('web')).toBe('Applied=True@1 Available=True@1');
  });
});
