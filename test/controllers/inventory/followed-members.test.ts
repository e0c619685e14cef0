import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ObjectCache } from '@berth/kube/cache/object-cache';
import { FollowedMembers } from '../../../src/controllers/inventory/followed-members.ts';
import { TransientError } from '@berth/runtime/errors';
import { CONFIG_MAP, type KindInfo, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const PART_OF = 'applyset.kubernetes.io/part-of';
const settings = (name: string, labels: Record<string, string> = { [PART_OF]: 'set' }): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'team', labels: { ...labels, app: name }, annotations: { note: 'n' } },
  data: { text: 'x'.repeat(1_000) },
});
const cluster = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name, labels },
});

describe('members that are followed', () => {
  let hub: FakeKubeApi;
  let api: RefusingKubeApi;
  let clock: FakeClock;
  let supervisor: Supervisor;
  let cache: ObjectCache;
  let members: FollowedMembers;
  /** What the hub says about its history. */
  let history: () => Promise<number>;

  beforeEach(async () => {
    hub = new FakeKubeApi();
    hub.addKind(CONFIG_MAP);
    api = new RefusingKubeApi(hub, 'kube.forbidden');
    clock = new FakeClock();
    history = () => Promise.resolve(0);
    const shared = { clock, random: () => 0.5, log: new SilentLogger() };
    supervisor = new Supervisor(shared);
    cache = new ObjectCache({ ...shared, api, historyOf: () => history() });
    cache.of(MANAGED_CLUSTER);
    members = new FollowedMembers({ cache, clock, checkHub: () => history() });
    cache.start(supervisor);
    await hub.create(CONFIG_MAP, settings('a'));
    await hub.create(CONFIG_MAP, settings('b', {}));
  });
  afterEach(() => supervisor.close());

  const namesOf = async (kind: KindInfo): Promise<readonly string[] | undefined> =>
    (await members.headsOf(kind))?.map(({ metadata }) => metadata.name).sort();
  const asked = (plural: string) => hub.requests.filter((line) => / \S+/.exec(line)?.[0] === ` ${plural}`);
  /** Asks once, so that the kind is followed. */
  const follow = async (): Promise<void> => {
    await members.headsOf(CONFIG_MAP);
    await clock.advance(0);
  };

  it('must be listed by the first plan, and cost the next ones no request', async () => {
    expect(await members.headsOf(CONFIG_MAP)).toBeUndefined();
    await clock.advance(0);
    const first = await members.headsOf(CONFIG_MAP);
    expect(first).toEqual([
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          ...{ name: 'a', namespace: 'team', labels: { [PART_OF]: 'set' } },
          ...{ uid: expect.any(String) as string, resourceVersion: expect.any(String) as string },
        },
      },
    ]);
    await hub.create(CONFIG_MAP, settings('c'));
    await clock.advance(0);
    const second = await members.headsOf(CONFIG_MAP);
    expect(second?.map(({ metadata }) => metadata.name)).toEqual(['a', 'c']);
    expect(second?.[0]).toBe(first?.[0]);
    expect(await members.headsOf(CONFIG_MAP)).toBe(second);
    expect(asked('configmaps').filter((line) => !line.startsWith('POST'))).toEqual([
      'LIST configmaps',
      'WATCH configmaps',
    ]);
  });

  it('are read from the watch that another reader has', async () => {
    await hub.create(MANAGED_CLUSTER, cluster('c1', { [PART_OF]: 'set', region: 'eu' }));
    await hub.create(MANAGED_CLUSTER, cluster('c2'));
    await clock.advance(0);
    expect(await namesOf(MANAGED_CLUSTER)).toEqual(['c1']);
    expect((await members.headsOf(MANAGED_CLUSTER))?.[0]?.metadata.labels).toEqual({ [PART_OF]: 'set' });
    expect(asked('managedclusters').filter((line) => line.startsWith('WATCH'))).toHaveLength(1);
  });

  it('are what a list finds after a gap of the watch', async () => {
    await follow();
    expect(await namesOf(CONFIG_MAP)).toEqual(['a']);
    api.refused.add('list configmaps');
    hub.expire();
    await hub.delete(CONFIG_MAP, { namespace: 'team', name: 'a' });
    await hub.create(CONFIG_MAP, settings('c'));
    await clock.advance(0);
    expect(await members.headsOf(CONFIG_MAP)).toBeUndefined();
    api.refused.clear();
    await clock.advance(30_000);
    expect(await namesOf(CONFIG_MAP)).toEqual(['c']);
  });

  it('must be listed while the watch is silent, and until a watch that was resumed is proven', async () => {
    await follow();
    await clock.advance(90_000);
    expect(await namesOf(CONFIG_MAP)).toEqual(['a']);
    await clock.advance(1);
    expect(await members.headsOf(CONFIG_MAP)).toBeUndefined();
    // The watch is opened again.
    await clock.advance(60_000);
    expect(asked('configmaps').filter((line) => line.startsWith('WATCH'))).toHaveLength(2);
    expect(await members.headsOf(CONFIG_MAP)).toBeUndefined();
    await clock.advance(2_000);
    expect(await namesOf(CONFIG_MAP)).toEqual(['a']);
  });

  it('must be listed while the hub has another history than the watch, or does not respond', async () => {
    await follow();
    history = () => Promise.resolve(1);
    expect(await members.headsOf(CONFIG_MAP)).toBeUndefined();
    history = () => Promise.reject(new TransientError('is gone', { code: 'kube.network', subject: 'hub' }));
    expect(await members.headsOf(CONFIG_MAP)).toBeUndefined();
    history = () => Promise.resolve(1);
    cache.restart();
    await clock.advance(1_000);
    expect(await namesOf(CONFIG_MAP)).toEqual(['a']);
  });

  it('of a kind that may not be watched are listed for each plan, and not besides', async () => {
    api.refused.add('watch configmaps');
    await follow();
    expect(await members.headsOf(CONFIG_MAP)).toBeUndefined();
    const before = asked('configmaps').length;
    await clock.advance(599_000);
    expect(await members.headsOf(CONFIG_MAP)).toBeUndefined();
    await clock.advance(0);
    expect(asked('configmaps')).toHaveLength(before);
    api.refused.clear();
    await clock.advance(1_000);
    await follow();
    expect(await namesOf(CONFIG_MAP)).toEqual(['a']);
  });

  it('are followed of a limited number of kinds', async () => {
    const kinds = Array.from({ length: 51 }, (_, at) => ({
      ...CONFIG_MAP,
      kind: `K${at}`,
      plural: `k${at}s`,
    }));
    for (const kind of kinds) await members.headsOf(kind);
    await clock.advance(0);
    const followed = hub.requests.filter((line) => /^WATCH k\d+s$/.test(line));
    expect(followed).toHaveLength(50);
  });
});
