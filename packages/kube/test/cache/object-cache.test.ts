import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type IndexDefinition, ObjectCache } from '../../src/cache/object-cache.ts';
import { MANAGED_CLUSTER, MANAGED_CLUSTER_SET, PLACEMENT } from '../../src/model/kinds.ts';
import type { KubeObject } from '../../src/model/object-meta.ts';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const BY_SET: IndexDefinition = { kind: MANAGED_CLUSTER, keysOf: ({ metadata }) => metadata.labels?.['set'] };
const BY_EACH_LABEL: IndexDefinition = {
  kind: MANAGED_CLUSTER,
  keysOf: ({ metadata }) => Object.keys(metadata.labels ?? {}),
};

const cluster = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name, labels },
  spec: { hubAcceptsClient: true },
});
const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name).sort();

describe('ObjectCache', () => {
  let hub: FakeKubeApi;
  let api: RefusingKubeApi;
  let clock: FakeClock;
  let supervisor: Supervisor;
  let errors: string[];
  let cache: ObjectCache;

  beforeEach(() => {
    hub = new FakeKubeApi();
    api = new RefusingKubeApi(hub, 'kube.forbidden');
    clock = new FakeClock();
    const shared = { clock, random: () => 0.5, log: new SilentLogger() };
    supervisor = new Supervisor(shared);
    errors = [];
    const transforms = { placements: ({ spec: _spec, ...rest }: KubeObject): KubeObject => rest };
    cache = new ObjectCache({ ...shared, api, transforms, onError: ({ plural }) => errors.push(plural) });
  });
  afterEach(() => supervisor.close());

  const requestsFor = (plural: string) => hub.requests.filter((line) => line.endsWith(` ${plural}`)).sort();
  const put = (object: KubeObject) => hub.create(MANAGED_CLUSTER, object);

  it('lists and watches a kind once, for every reader and every index', async () => {
    await put(cluster('a', { set: 'x' }));
    const readers = [cache.of(MANAGED_CLUSTER), cache.of({ ...MANAGED_CLUSTER })];
    const indexes = [cache.index(BY_SET), cache.index(BY_SET), cache.index(BY_EACH_LABEL)];
    cache.start(supervisor);
    await clock.advance(0);
    expect(requestsFor('managedclusters')).toEqual(['LIST managedclusters', 'WATCH managedclusters']);
    expect(readers[0]).toBe(readers[1]);
    expect(indexes[0]).toBe(indexes[1]);
    expect(indexes.map((index, at) => names(index.get(at < 2 ? 'x' : 'set')))).toEqual([['a'], ['a'], ['a']]);
    expect(cache.reflectors).toHaveLength(1);
  });

  it('keeps its indexes as the objects are', async () => {
    const index = cache.index(BY_SET);
    cache.start(supervisor);
    await put(cluster('a', { set: 'x' }));
    await put(cluster('b', { set: 'x' }));
    await clock.advance(0);
    expect(names(index.get('x'))).toEqual(['a', 'b']);
    await hub.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name: 'a' },
      { metadata: { labels: { set: 'y' } } },
    );
    await hub.delete(MANAGED_CLUSTER, { namespace: '', name: 'b' });
    await clock.advance(0);
    expect([names(index.get('x')), names(index.get('y'))]).toEqual([[], ['a']]);
  });

  it('follows a kind that is asked for after the start, and indexes what is there already', async () => {
    cache.start(supervisor);
    await put(cluster('a', { set: 'x' }));
    const reflector = cache.of(MANAGED_CLUSTER);
    await clock.advance(0);
    expect(reflector.synced).toBe(true);
    expect(names(cache.index(BY_SET).get('x'))).toEqual(['a']);
  });

  it('follows the other kinds while one is refused, and that one as soon as it is allowed', async () => {
    const [clusters, sets] = [cache.of(MANAGED_CLUSTER), cache.of(MANAGED_CLUSTER_SET)];
    api.refused.add('list managedclustersets');
    cache.start(supervisor);
    await put(cluster('a'));
    await clock.advance(2_000);
    expect([clusters.synced, sets.synced, sets.failure?.verb]).toEqual([true, false, 'list']);
    expect(new Set(errors)).toEqual(new Set(['managedclustersets']));
    api.refused.clear();
    await clock.advance(30_000);
    expect([sets.synced, sets.failure]).toEqual([true, undefined]);
  });

  it('keeps less of the kinds that its options name', async () => {
    await hub.create(PLACEMENT, {
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'Placement',
      metadata: { name: 'web', namespace: 'team' },
      spec: { numberOfClusters: 1 },
    });
    await put(cluster('a'));
    const [placements, clusters] = [cache.of(PLACEMENT), cache.of(MANAGED_CLUSTER)];
    cache.start(supervisor);
    await clock.advance(0);
    expect(placements.store.get('team/web')).not.toHaveProperty('spec');
    expect(clusters.store.get('a')).toHaveProperty('spec');
  });

  it('follows a part of a kind by itself, until it has to forget it', async () => {
    const definition = {
      selection: { labelSelector: 'set=x' },
      reduce: ({ spec: _spec, ...rest }: KubeObject): KubeObject => rest,
    };
    cache.start(supervisor);
    await put(cluster('a', { set: 'x' }));
    await put(cluster('b', { set: 'y' }));
    expect(cache.whole(MANAGED_CLUSTER)).toBeUndefined();
    const part = cache.part(MANAGED_CLUSTER, definition);
    expect(cache.part({ ...MANAGED_CLUSTER }, definition)).toBe(part);
    await clock.advance(0);
    expect(part.store.list()).toMatchObject([{ metadata: { name: 'a' } }]);
    expect(part.store.get('a')).not.toHaveProperty('spec');
    expect(cache.reflectors).toEqual([part]);
    const all = cache.of(MANAGED_CLUSTER);
    expect(cache.whole(MANAGED_CLUSTER)).toBe(all);
    cache.forget(MANAGED_CLUSTER, definition);
    await clock.advance(0);
    await put(cluster('c', { set: 'x' }));
    await clock.advance(0);
    expect(names(part.store.list())).toEqual(['a']);
    expect(names(all.store.list())).toEqual(['a', 'b', 'c']);
    expect(cache.reflectors).toEqual([all]);
  });
});
