import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  CONFIG_MAP,
  MANAGED_CLUSTER,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  baseFiles,
  binding,
  cluster,
  clusterSet,
  namespace,
  placement,
  yaml,
} from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';

describe('Git and others on one hub', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(() => fleet.close());

  const region = (name: string, value: string) => cluster(name, { labels: { region: value } });
  const byHand = (name: string, value: string) =>
    fleet.hub.api.apply(MANAGED_CLUSTER, region(name, value), { fieldManager: 'kubectl' });
  const regionOf = async (name: string) =>
    (await fleet.hub.api.get(MANAGED_CLUSTER, { namespace: '', name }))?.metadata.labels?.['region'];

  it('a field of another manager is left alone and reported with field, manager and place; the rest goes on', async () => {
    await byHand('c1', 'eu');
    fleet.git.commit({
      ...baseFiles,
      'clusters.yaml': yaml(region('c1', 'us'), region('c2', 'us')),
      'web.yaml': yaml(placement('web')),
    });
    await fleet.serve({ http: fleet.http() });
    await fleet.event('published', ({ clusters }) => clusters.includes('c2'));
    expect(await regionOf('c1')).toBe('eu');
    expect(await regionOf('c2')).toBe('us');
    const { code, stdout } = await fleet.status();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /fleet: clusters\.yaml:1:1: ManagedCluster c1: fields belong to another manager .*metadata\.labels\.region.*kubectl/,
    );
  });

  it('force takes fields for the source that says so, and for no other', async () => {
    await byHand('c1', 'eu');
    await byHand('c9', 'eu');
    fleet.git.commit({ ...baseFiles, 'clusters.yaml': yaml(region('c1', 'us')) });
    fleet.second.commit({ 'clusters.yaml': yaml(region('c9', 'us')) });
    await fleet.serve({
      sources: [
        { name: 'meek', url: fleet.git.path },
        { name: 'strong', url: fleet.second.path, force: true },
      ],
    });
    await fleet.event('synced', ({ source }) => source === 'strong');
    expect(await fleet.event('sync-problem')).toMatchObject({ source: 'meek', object: 'ManagedCluster c1' });
    expect(await regionOf('c9')).toBe('us');
    expect(await regionOf('c1')).toBe('eu');
  });

  it('an object of two sources belongs to the first; the second one says so, and gets it when the first gives it up', async () => {
    const ours = (value: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'shared', namespace: 'default' },
      data: { value },
    });
    fleet.git.commit({ 'a.yaml': yaml(ours('first')) });
    fleet.second.commit({ 'b.yaml': yaml(ours('second')) });
    const first = { name: 'first', url: fleet.git.path };
    await fleet.serve({ sources: [first] });
    await fleet.event('synced');
    await fleet.stop();
    await fleet.serve({ sources: [first, { name: 'second', url: fleet.second.path }] });
    expect(await fleet.event('sync-problem', ({ source }) => source === 'second')).toMatchObject({
      object: 'ConfigMap default/shared',
      message: expect.stringContaining('belongs to source first') as string,
    });
    const valueNow = async () =>
      (
        (await fleet.hub.api.get(CONFIG_MAP, { namespace: 'default', name: 'shared' }))?.['data'] as
          | { value: string }
          | undefined
      )?.value;
    expect(await valueNow()).toBe('first');
    fleet.git.commit({ 'a.yaml': undefined });
    await fleet.until(async () => ((await valueNow()) === 'second' ? true : undefined));
  });

  it('a placement that moves to another source is the same one there, and its decisions stay', async () => {
    const moved = { 'web.yaml': yaml(placement('web')) };
    fleet.git.commit({ ...baseFiles, ...moved });
    fleet.second.commit({ 'other.yaml': yaml(placement('other')) });
    const sources = [
      { name: 'first', url: fleet.git.path },
      { name: 'second', url: fleet.second.path },
    ];
    await fleet.serve({ sources });
    await fleet.published('web');
    const setOf = async () => (await fleet.read('web')).metadata.labels?.['applyset.kubernetes.io/part-of'];
    const pageOf = async () =>
      (await fleet.hub.api.get(PLACEMENT_DECISION, { namespace: 'team-a', name: 'web-decision-1' }))?.metadata
        .uid;
    const [uid, set, page] = [(await fleet.read('web')).metadata.uid, await setOf(), await pageOf()];
    fleet.second.commit(moved);
    await fleet.event('sync-problem', ({ source }) => source === 'second');
    const seen = fleet.events.length;
    fleet.git.commit({ 'web.yaml': undefined });
    await fleet.until(async () => ((await setOf()) === set ? undefined : true));
    expect([(await fleet.read('web')).metadata.uid, await pageOf()]).toEqual([uid, page]);
    expect(await fleet.decisions('web')).toHaveLength(6);
    // Nobody takes it back or deletes it later.
    await fleet.event('synced', ({ source }) => source === 'first', seen);
    const later = fleet.events.length;
    fleet.git.commit({ 'more.yaml': yaml(placement('more')) });
    await fleet.event('synced', ({ source, applied }) => source === 'first' && applied > 0, later);
    expect((await fleet.read('web')).metadata.uid).toBe(uid);
  });

  it('sync: observe leaves the hub to others: decisions are published, objects are neither written nor pruned', async () => {
    const { api } = fleet.hub;
    await api.create(NAMESPACE, namespace('team-a'));
    for (const object of [clusterSet, binding(), cluster('c1'), placement('web')] as KubeObject[]) {
      const kind = await api.resolve(object.apiVersion, object.kind);
      await api.apply(kind!, object, { fieldManager: 'argocd-controller' });
    }
    fleet.git.commit({ 'more.yaml': yaml(cluster('c2')), 'broken.yaml': 'spec: [' });
    await fleet.serve({ sources: [{ url: fleet.git.path, sync: 'observe' }], http: fleet.http() });
    expect(await fleet.published('web')).toMatchObject({ clusters: ['c1'] });
    const read = await fleet.event('commit-read');
    expect(read.problems).toHaveLength(1);
    expect((await fleet.status()).stdout).toMatch(/fleet: broken\.yaml:1:\d+/);
    expect(await api.get(MANAGED_CLUSTER, { namespace: '', name: 'c2' })).toBeUndefined();
    expect(await api.get(CONFIG_MAP, { namespace: 'berth-system', name: 'berth-fleet' })).toBeUndefined();
    expect(fleet.events.some(({ kind }) => kind === 'synced')).toBe(false);
  });

  it('holds a prune beyond the budget until it is released by hand, and says who released it', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    await fleet.serve({ http: fleet.http() });
    await fleet.published('web');
    fleet.git.commit({ 'clusters.yaml': undefined });
    const { message } = await fleet.event('sync-problem');
    const code = /--token ([0-9a-f]{12})/.exec(message)?.[1] ?? '';
    expect(message).toContain(`berth release --source fleet --token ${code}`);
    expect((await fleet.status()).stdout).toContain('6 of 10 objects left Git (budget 2)');
    expect((await fleet.hub.api.list(MANAGED_CLUSTER)).items).toHaveLength(6);
    const release = ['release', '--source', 'fleet', '--kubeconfig', fleet.hub.kubeconfig, '--as', 'Grace'];
    expect(await fleet.berth(...release, '--token', 'ffffffffffff')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(`does not match the deletions .* under ${code}[^]*6 of 10 objects`),
      ) as string,
    });
    expect(await fleet.berth(...release, '--source', 'fleat', '--token', code)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no ConfigMap berth-system/berth-fleat') as string,
    });
    await fleet.advance(300);
    expect((await fleet.hub.api.list(MANAGED_CLUSTER)).items).toHaveLength(6);
    expect(await fleet.berth(...release, '--token', code)).toMatchObject({ code: 0 });
    const synced = await fleet.event('synced', ({ pruned }) => pruned > 0);
    expect(synced).toMatchObject({
      pruned: 6,
      released: {
        token: code,
        by: expect.stringMatching(
          /^Grace \(Kubernetes user [a-z:]+, as recorded by the client\) at /,
        ) as string,
      },
    });
    expect((await fleet.hub.api.list(MANAGED_CLUSTER)).items).toEqual([]);
    await fleet.until(async () => {
      const again = await fleet.berth(...release, '--token', code);
      return again.code === 1 && again.stderr.includes('nothing is held') ? true : undefined;
    });
    // The decision does not follow: nobody asked for an empty placement.
    expect(await fleet.held('web', 'True')).toMatchObject({ reason: 'WouldEmpty' });
    expect(await fleet.decisions('web')).toHaveLength(6);
  });

  it('a release that cannot be checked, since an older controller held the deletions, is noted with a warning', async () => {
    fleet.git.commit(baseFiles);
    await fleet.serve();
    await fleet.event('synced');
    await fleet.stop();
    const parent = { namespace: 'berth-system', name: 'berth-fleet' };
    const annotations = { 'berth.dev/held-token': null, 'berth.dev/held-message': null };
    await fleet.hub.api.mergePatch(CONFIG_MAP, parent, { metadata: { annotations } });
    const release = ['release', '--source', 'fleet', '--kubeconfig', fleet.hub.kubeconfig];
    expect(await fleet.berth(...release, '--token', 'ffffffffffff')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Warning: the hub does not show') as string,
    });
    expect((await fleet.hub.api.get(CONFIG_MAP, parent))?.metadata.annotations).toMatchObject({
      'berth.dev/release': 'ffffffffffff',
    });
  });

  it('a held prune is released by the annotation in Git that names its code, and by no other', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    await fleet.serve({ http: fleet.http() });
    await fleet.published('web');
    const releasing = (...codes: string[]) => {
      const annotations = { 'berth.dev/release': codes.join(', ') };
      return yaml(
        { ...namespace('team-a'), metadata: { name: 'team-a', annotations } },
        clusterSet,
        binding(),
      );
    };
    const left = async () => (await fleet.hub.api.list(MANAGED_CLUSTER)).items.length;
    const codeOf = ({ message }: { readonly message: string }) =>
      /release: "([0-9a-f]{12})"/.exec(message)?.[1] ?? '';
    fleet.git.commit({ 'clusters.yaml': yaml(cluster('c1'), cluster('c2')) });
    const early = codeOf(await fleet.event('sync-problem', ({ message }) => message.includes('4 of 10')));
    // What it names is not what would be deleted any more.
    fleet.git.commit({ 'clusters.yaml': yaml(cluster('c1')), 'set.yaml': releasing(early) });
    const code = codeOf(await fleet.event('sync-problem', ({ message }) => message.includes('5 of 10')));
    expect(code).not.toBe(early);
    expect(await left()).toBe(6);

    fleet.git.commit({ 'set.yaml': releasing(early, code) }, 'These five are gone');
    const synced = await fleet.event('synced', ({ pruned }) => pruned > 0);
    const commit = fleet.git.run('rev-parse', 'HEAD').trim();
    const by = expect.stringMatching(new RegExp(`^Ada <.*> at \\d{4}-.*Z in commit ${commit}$`)) as string;
    expect(synced).toMatchObject({ pruned: 5, released: { token: code, by } });
    expect(await left()).toBe(1);
    const parent = await fleet.hub.api.get(CONFIG_MAP, { namespace: 'berth-system', name: 'berth-fleet' });
    expect(parent?.metadata.annotations).toMatchObject({
      'berth.dev/release': code,
      'berth.dev/released-by': by,
    });
    expect((await fleet.status()).stdout).not.toContain('objects left Git');
  });

  it('a binding that is removed is held, and released holds the decisions of its placements and says what is missing', async () => {
    fleet.git.commit({
      'set.yaml': yaml(namespace('team-a'), clusterSet),
      'binding.yaml': yaml(binding()),
      'clusters.yaml': baseFiles['clusters.yaml'],
      'web.yaml': yaml(placement('web')),
    });
    await fleet.serve();
    await fleet.published('web');
    fleet.git.commit({ 'binding.yaml': undefined });
    const { message } = await fleet.event('sync-problem');
    expect(message).toContain(
      'ManagedClusterSetBinding team-a/prod takes away 6 of 6 clusters of Placement team-a/web (budget 2): c1, c2, c3, c4, c5, c6',
    );
    const code = /--token ([0-9a-f]{12})/.exec(message)?.[1] ?? '';
    const release = ['release', '--source', 'fleet', '--kubeconfig', fleet.hub.kubeconfig, '--as', 'Grace'];
    expect(await fleet.berth(...release, '--token', code)).toMatchObject({ code: 0 });
    const held = await fleet.held('web', 'True');
    expect(held.message).toContain('c1, c2, c3, c4, c5, c6');
    expect(await fleet.decisions('web')).toHaveLength(6);
    expect(
      (await fleet.read('web')).status?.conditions?.find(({ type }) => type === 'PlacementSatisfied'),
    ).toMatchObject({ status: 'False' });
    fleet.git.commit({ 'binding.yaml': yaml(binding()) });
    await fleet.held('web', 'False');
    expect(await fleet.decisions('web')).toHaveLength(6);
  });

  it('makes a namespace again that somebody deleted with everything in it', async () => {
    const key = { namespace: 'extra', name: 'settings' };
    fleet.git.commit({
      ...baseFiles,
      'a.yaml': yaml({ apiVersion: 'v1', kind: 'ConfigMap', metadata: key }),
    });
    await fleet.serve({ resyncIntervalMs: 100 });
    await fleet.event('synced');
    const before = await fleet.hub.api.get(CONFIG_MAP, key);
    await fleet.hub.api.delete(NAMESPACE, { namespace: '', name: 'extra' });
    const again = await fleet.until(async () => {
      const found = await fleet.hub.api.get(CONFIG_MAP, key);
      return found?.metadata.uid === before?.metadata.uid ? undefined : found;
    });
    expect(again.metadata.labels).toEqual(before?.metadata.labels);
  });

  it('berth.dev/prune: disabled outlives even the removal of everything around it', async () => {
    const kept = placement('kept', {}, { 'berth.dev/prune': 'disabled' });
    fleet.git.commit({ ...baseFiles, 'kept.yaml': yaml(kept) });
    await fleet.serve({ budget: { percent: 100, atLeast: 0 } });
    await fleet.published('kept');
    fleet.git.commit({
      'kept.yaml': undefined,
      'clusters.yaml': undefined,
      'set.yaml': yaml(namespace('team-a')),
    });
    await fleet.event('synced', ({ pruned }) => pruned > 0);
    expect((await fleet.hub.api.list(PLACEMENT)).items.map(({ metadata }) => metadata.name)).toEqual([
      'kept',
    ]);
    await fleet.held('kept', 'True', 'WouldEmpty');
  });
});
