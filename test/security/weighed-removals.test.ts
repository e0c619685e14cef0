import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import {
  baseFiles,
  binding,
  cluster,
  clusterSet,
  namespace,
  placement,
  yaml,
} from '../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../app/serve/served-fleet.ts';

const WORK = 'work.open-cluster-management.io';
const names = (count: number) => Array.from({ length: count }, (_, n) => `c${n + 1}`);
const replicaSet = (name: string, placedBy: string, kind = 'ManifestWorkReplicaSet') => ({
  apiVersion: `${WORK}/v1alpha1`,
  kind,
  metadata: { name, namespace: 'team-a' },
  spec: {
    placementRefs: [{ name: placedBy }],
    manifestWorkTemplate: {
      workload: {
        manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'default' } }],
      },
    },
  },
});
const setFile = { 'set.yaml': yaml(namespace('team-a'), clusterSet, binding()) };

describe('a commit that deletes one object and with it what many clusters run', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(() => fleet.close());

  const works = async () => (await fleet.hub.api.list(MANIFEST_WORK)).items.length;
  const held = (after: number) =>
    fleet.event('sync-problem', ({ message }) => message.includes('these stay: '), after);
  const codeOf = (text: string) => /--token ([0-9a-f]{12})/.exec(text)?.[1];
  const plan = async () =>
    (
      await fleet.berth(
        'plan',
        '--base',
        'HEAD~1',
        '--hub',
        '--kubeconfig',
        fleet.hub.kubeconfig,
        '-o',
        'table',
      )
    ).stdout;
  const serveForty = async () => {
    fleet.git.commit({
      ...setFile,
      'clusters.yaml': yaml(...names(40).map((name) => cluster(name))),
      'web.yaml': yaml(placement('web')),
      'works.yaml': yaml(replicaSet('web', 'web')),
    });
    await fleet.serve({ http: fleet.http() });
    await expect.poll(works).toBe(40);
  };

  it('cannot take the 40 works of a replica set away unheld, and the plan says the same under the same code', async () => {
    await serveForty();
    const seen = fleet.events.length;
    fleet.git.commit({ 'works.yaml': undefined }, 'Tidy up');
    const { message } = await held(seen);
    expect(message).toContain('ManifestWorkReplicaSet team-a/web takes away 40 of 40 works (budget 10)');
    expect(await works()).toBe(40);
    expect((await fleet.status()).stdout).toContain('takes away 40 of 40 works');
    const code = codeOf(message) ?? '';
    const planned = await plan();
    expect(planned).toContain('takes away 40 of 40 works (budget 10)');
    expect(codeOf(planned)).toBe(code);
    const release = ['release', '--source', 'fleet', '--kubeconfig', fleet.hub.kubeconfig, '--as', 'Grace'];
    expect((await fleet.berth(...release, '--token', code)).code).toBe(0);
    await expect.poll(works).toBe(0);
  });

  it('cannot take the works away by a misspelt kind', async () => {
    await serveForty();
    const seen = fleet.events.length;
    fleet.git.commit({ 'works.yaml': yaml(replicaSet('web', 'web', 'ManifestWorkReplicaset')) }, 'Edit');
    const read = await fleet.event('commit-read', () => true, seen);
    expect(read.problems).toMatchObject([
      {
        severity: 'error',
        code: 'schema.unknown-kind',
        location: { file: 'works.yaml', line: 2, column: 7 },
      },
    ]);
    await fleet.event('synced', () => true, seen);
    expect((await fleet.hub.api.list(MANIFEST_WORK_REPLICA_SET)).items).toHaveLength(1);
    expect(await works()).toBe(40);
  });

  it('cannot take a placement and its pages away unheld', async () => {
    await serveForty();
    const seen = fleet.events.length;
    fleet.git.commit({ 'web.yaml': undefined }, 'Tidy up');
    const { message } = await held(seen);
    expect(message).toContain('Placement team-a/web takes away 40 of 40 clusters');
    expect(codeOf(await plan())).toBe(codeOf(message));
    expect(await fleet.decisions('web')).toHaveLength(40);
  });

  it('cannot take the clusters of a placement away one commit after the other', async () => {
    const files = Object.fromEntries(names(8).map((name) => [`${name}.yaml`, yaml(cluster(name))] as const));
    const others = yaml(...names(40).map((name) => namespace(`n-${name}`)));
    fleet.git.commit({ ...setFile, ...files, 'others.yaml': others, 'web.yaml': yaml(placement('web')) });
    await fleet.serve({ http: fleet.http() });
    await expect.poll(() => fleet.decisions('web')).toHaveLength(8);
    for (const name of ['c1', 'c2']) {
      fleet.git.commit({ [`${name}.yaml`]: undefined }, `Retire ${name}`);
      await fleet.event('deleted', ({ record }) => record.object === `ManagedCluster ${name}`);
      await expect.poll(() => fleet.decisions('web')).not.toContain(name);
    }
    const seen = fleet.events.length;
    fleet.git.commit({ 'c3.yaml': undefined }, 'Retire c3');
    const { message } = await held(seen);
    expect(message).toContain(
      'ManagedCluster c3 takes away 1 of 6 clusters of Placement team-a/web (budget 2, after 2 in the 10 minutes before): c3',
    );
    const planned = await plan();
    expect(planned).toContain('after 2 in the 10 minutes before');
    expect(codeOf(planned)).toBe(codeOf(message));
    // The next process knows as much.
    await fleet.stop();
    await fleet.serve({ http: fleet.http() });
    expect((await held(0)).message).toBe(message);
    expect(await fleet.decisions('web')).toEqual(names(8).slice(2));
  });

  it('cannot empty a held placement by deleting it in the next commit', async () => {
    fleet.git.commit({
      ...setFile,
      'clusters.yaml': yaml(cluster('c1'), cluster('c2')),
      'web.yaml': yaml(placement('web')),
    });
    await fleet.serve({ http: fleet.http() });
    await fleet.published('web');
    fleet.git.commit({ 'web.yaml': yaml(placement('web', { clusterSets: ['prd'] })) }, 'Mistype');
    await fleet.held('web', 'True', 'WouldEmpty');
    const seen = fleet.events.length;
    fleet.git.commit({ 'web.yaml': undefined }, 'Delete');
    const { message } = await held(seen);
    expect(message).toContain('Placement team-a/web takes away 2 of 2 clusters (held: WouldEmpty): c1, c2');
    // The placement stays on the hub, and so does the hold of the commit before: the plan names both.
    const [ofPlacement = '', ofDeletions = ''] = (await plan()).split('Deletions held');
    expect(ofPlacement).toContain('Waiting on HEAD~1: 1 hold (team-a/web: 2 → 0 clusters, WouldEmpty)');
    expect(codeOf(ofDeletions)).toBe(codeOf(message));
    const pages = (await fleet.hub.api.list(PLACEMENT_DECISION, { namespace: 'team-a' })).items;
    expect(pages).toHaveLength(1);
    expect(await fleet.decisions('web')).toEqual(['c1', 'c2']);
  });

  it.each([
    ['no kind and no apiVersion', 'metadata:\n  name: web\n  namespace: team-a\nspec: {}\n'],
    [
      'a kind that nobody serves',
      'apiVersion: example.org/v1\nkind: Web\nmetadata: { name: web, namespace: team-a }\n',
    ],
    ['a List under a name', 'apiVersion: v1\nkind: List\nmetadata: { name: web }\nitems: []\n'],
    [
      'a misspelt group',
      yaml({ ...placement('web'), apiVersion: 'cluster.open-cluster-managment.io/v1beta1' }),
    ],
  ])('cannot make a small placement vanish by a document with %s', async (_what, text) => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', { numberOfClusters: 1 })) });
    await fleet.serve({ http: fleet.http() });
    await fleet.published('web');
    const seen = fleet.events.length;
    fleet.git.commit({ 'web.yaml': text }, 'Edit');
    await fleet.event('synced', () => true, seen);
    await expect.poll(async () => (await fleet.status()).stdout).toMatch(/web\.yaml:\d+:\d+/);
    expect(await fleet.decisions('web')).toHaveLength(1);
    await fleet.stop();
    await fleet.serve({ http: fleet.http() });
    await fleet.event('synced');
    expect(await fleet.decisions('web')).toHaveLength(1);
    expect(await fleet.read('web')).toBeDefined();
  });
});
