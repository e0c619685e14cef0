import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import {
  judgeDeletions,
  judgeSources,
  type ReadFleets,
} from '../../../../src/controllers/previews/judge-deletions.ts';
import { syncTogether } from '../../../../src/controllers/sources/following/sync-together.ts';
import { SourceDeclarations } from '../../../../src/controllers/sources/progress/source-declarations.ts';
import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import { mergeSources } from '../../../../src/core/preview/sides/merge-sources.ts';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import {
  baseFiles,
  binding,
  clusterSet,
  namespace,
  placement,
  yaml,
} from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';
import { hubSyncFor } from './hub-sync-fixture.ts';
import { interceptedApi } from './intercepted-api.ts';

let fleet: ServedFleet;
beforeEach(async () => {
  fleet = await ServedFleet.create();
});
afterEach(() => fleet.close());

/** A set leaves one source, and a placement that uses it leaves another. */
it('a deletion is no longer held for a placement that another source has deleted', async () => {
  fleet.git.commit(baseFiles);
  fleet.second.commit({ 'web.yaml': yaml(placement('web')), 'own.yaml': yaml(namespace('own')) });
  await fleet.serve({
    sources: [
      { name: 'fleet', url: fleet.git.path },
      { name: 'apps', url: fleet.second.path, budget: { percent: 100, atLeast: 1 } },
    ],
  });
  // A repository that is read first has its placement decided without clusters.
  await fleet.event('published', ({ clusters }) => clusters.length === 6);
  const seen = fleet.events.length;
  fleet.git.commit({ 'set.yaml': yaml(namespace('team-a'), clusterSet) });
  const held = await fleet.event('sync-problem', ({ message }) => message.includes('left Git'), seen);
  expect(held.message).toContain(
    `ManagedClusterSetBinding team-a/${binding().metadata.name} takes away 6 of 6`,
  );
  fleet.second.commit({ 'web.yaml': undefined });
  await fleet.event('synced', ({ source, pruned }) => source === 'apps' && pruned === 1, seen);
  await fleet.event('synced', ({ source, pruned }) => source === 'fleet' && pruned === 1, seen);
});

it('deletions of one commit in two sources are not held for each other', async () => {
  const apps = { 'apps/web.yaml': yaml(placement('web')), 'apps/own.yaml': yaml(namespace('own')) };
  const base = Object.entries(baseFiles).map(([file, text]) => [`fleet/${file}`, text]);
  fleet.git.commit({ ...Object.fromEntries(base), ...apps });
  const { path: url } = fleet.git;
  await fleet.serve({
    sources: [
      { name: 'fleet', url, paths: ['fleet'] },
      { name: 'apps', url, paths: ['apps'], budget: { percent: 100, atLeast: 1 } },
    ],
  });
  await fleet.published('web');
  const seen = fleet.events.length;
  fleet.git.commit({ 'fleet/set.yaml': yaml(namespace('team-a'), clusterSet), 'apps/web.yaml': undefined });
  await Promise.all(
    ['fleet', 'apps'].map((name) =>
      fleet.event('synced', ({ source, pruned }) => source === name && pruned === 1, seen),
    ),
  );
  const problems = fleet.events.slice(seen).filter(({ kind }) => kind === 'sync-problem' || kind === 'held');
  expect(problems).toEqual([]);
});

it('a loss counts once, whatever write of its deletion was the last of a killed process', async () => {
  const names = Array.from({ length: 8 }, (_, at) => `c${at}`);
  const cluster = (name: string): KubeObject => ({
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name },
  });
  const namespaces = names.map((name) => namespace(`of-${name}`));
  const declared = (clusters: readonly string[]) =>
    [namespace('team-a'), placement('web'), ...namespaces, ...clusters.map(cluster)].map((object) => ({
      object,
      location: { file: 'a.yaml', line: 1, column: 1 },
    }));
  const follow = (api: KubeApi, clusters: readonly string[]) => {
    const clock = new FakeClock();
    const declarations = new SourceDeclarations(clock, [{ name: 'fleet', force: false }]);
    return hubSyncFor({ api, source: 'fleet', declarations, clock }).sync({
      objects: declared(clusters),
      complete: true,
    });
  };
  for (let last = 1, isDead = true; isDead; last++) {
    const hub = await startEmbeddedHub();
    await follow(hub.api, names);
    const key = { namespace: 'team-a', name: 'web-1' };
    const decisions = names.map((clusterName) => ({ clusterName, reason: '' }));
    await hub.api.create(PLACEMENT_DECISION, {
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'PlacementDecision',
      metadata: { ...key, labels: { [PLACEMENT_LABEL]: 'web' } },
    });
    await hub.api.mergePatch(PLACEMENT_DECISION, key, { status: { decisions } }, { subresource: 'status' });
    let writesLeft = last;
    isDead = false;
    const api = interceptedApi(hub.api, (method) => {
      if (!['delete', 'apply', 'mergePatch'].includes(method)) return;
      isDead ||= writesLeft-- === 0;
      if (isDead) throw new Error('dead');
    });
    await follow(api, names.slice(2)).catch(() => undefined);
    const second = await follow(hub.api, names.slice(2));
    expect([last, second.pruneHeld]).toEqual([last, undefined]);
    const third = await follow(hub.api, names.slice(3));
    expect([last, third.pruneHeld?.message]).toEqual([
      last,
      expect.stringContaining('after 2 in the 10 minutes'),
    ]);
    const { items } = await hub.api.list(MANAGED_CLUSTER);
    expect(items).toHaveLength(6);
    await hub.close();
  }
});

it('the hold of a placement that another source gives up does not hold deletions, and the plan says the same', async () => {
  const hub = await startEmbeddedHub();
  onTestFinished(() => hub.close());
  const names = ['c1', 'c2', 'c3'];
  const cluster = (name: string): KubeObject => ({
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name },
  });
  const web = placement('web', { numberOfClusters: 3, clusterSets: ['prod'] });
  const declared = (objects: readonly KubeObject[]) =>
    objects.map((object) => ({ object, location: { file: 'a.yaml', line: 1, column: 1 } }));
  const objects = {
    before: { fleet: names.map(cluster), apps: [namespace('team-a'), web] },
    after: { fleet: names.slice(1).map(cluster), apps: [namespace('team-a')] },
  };
  const clock = new FakeClock();
  const order = ['fleet', 'apps'] as const;
  const declarations = new SourceDeclarations(
    clock,
    order.map((name) => ({ name, force: false })),
  );
  const sources = order.map((source) => ({
    source,
    sync: hubSyncFor({ api: hub.api, source, declarations, clock, annotatePlacements: true }),
  }));
  const follow = async (side: keyof typeof objects) => {
    const inputs = sources.map(({ source, sync }) => {
      const input = { objects: declared(objects[side][source]), complete: true };
      sync.declare(input);
      return { sync, input };
    });
    return syncTogether(await Promise.all(inputs.map(({ sync, input }) => sync.begin(input))));
  };
  await follow('before');
  const key = { namespace: 'team-a', name: 'web' };
  const scaled = { apiVersion: web.apiVersion, kind: web.kind, metadata: key, spec: { numberOfClusters: 3 } };
  await hub.api.apply(PLACEMENT, scaled, { fieldManager: 'autoscaler', force: true });
  const hold = { type: 'berth.dev/Held', status: 'True', reason: 'RemovalBudgetExceeded', message: 'held' };
  const conditions = [{ ...hold, lastTransitionTime: '2026-01-01T00:00:00Z' }];
  await hub.api.mergePatch(PLACEMENT, key, { status: { conditions } }, { subresource: 'status' });
  const page = { namespace: 'team-a', name: 'web-decision-1' };
  await hub.api.create(PLACEMENT_DECISION, {
    apiVersion: web.apiVersion,
    kind: 'PlacementDecision',
    metadata: { ...page, labels: { [PLACEMENT_LABEL]: 'web' } },
  });
  const decisions = names.map((clusterName) => ({ clusterName, reason: '' }));
  await hub.api.mergePatch(PLACEMENT_DECISION, page, { status: { decisions } }, { subresource: 'status' });

  const side = (of: keyof typeof objects): ReadFleets =>
    order.map((name, rank) => ({
      ...{ name, rank, budget: undefined, deletionWindowMs: undefined, allowEmpty: true, applies: true },
      ...{ kinds: ['*'], complete: true, problems: [], files: 1, textOf: () => Promise.resolve(undefined) },
      objects: declared(objects[of][name]).map((one) => ({ ...one, place: { document: 0, within: [] } })),
    }));
  const [bases, heads] = [side('before'), side('after')];
  const { ownerOf } = mergeSources(bases);
  const now = '2026-01-01T00:00:00Z';
  const judging = { hubApi: hub.api, decides: 'own' as const };
  const planned = await judgeSources(judging, [bases, heads], { ownerOf, now });
  expect(planned.map(({ held, deleted, withdrawn }) => [held, deleted.length, withdrawn.length])).toEqual([
    [undefined, 1, 0],
    [undefined, 0, 1],
  ]);
  const ends = await follow('after');
  expect([...ends]).toMatchObject([
    ['apps', { outcome: { pruneHeld: undefined, problems: [] } }],
    ['fleet', { outcome: { pruneHeld: undefined, problems: [], pruned: 1 } }],
  ]);
});

it('an add-on that leaves Git is held by the clusters that lose it, and the plan says the same', async () => {
  const hub = await startEmbeddedHub();
  onTestFinished(() => hub.close());
  const names = ['c1', 'c2', 'c3'];
  const addOn: KubeObject = {
    apiVersion: apiVersionOf(CLUSTER_MANAGEMENT_ADDON),
    kind: CLUSTER_MANAGEMENT_ADDON.kind,
    metadata: { name: 'hello' },
    spec: { installStrategy: { type: 'Manual' } },
  };
  const declared = (...objects: readonly KubeObject[]) =>
    [...names.map(namespace), ...objects].map((object) => ({
      object,
      location: { file: 'a.yaml', line: 1, column: 1 },
    }));
  const clock = new FakeClock();
  const declarations = new SourceDeclarations(clock, [{ name: 'fleet', force: false }]);
  const source = hubSyncFor({ api: hub.api, source: 'fleet', declarations, clock });
  await source.sync({ objects: declared(addOn), complete: true });
  const made = await hub.api.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: 'hello' });
  const { apiVersion, kind } = addOn;
  for (const cluster of names)
    await hub.api.create(MANAGED_CLUSTER_ADDON, {
      apiVersion,
      kind: MANAGED_CLUSTER_ADDON.kind,
      metadata: {
        namespace: cluster,
        name: 'hello',
        ownerReferences: [{ apiVersion, kind, name: 'hello', uid: made?.metadata.uid ?? '' }],
      },
      spec: {},
    });
  const { pruneHeld } = await source.sync({ objects: declared(), complete: true });
  const text = 'ClusterManagementAddOn hello takes away 3 of 3 clusters (budget 2): c1, c2, c3';
  expect(pruneHeld?.message).toContain(text);
  expect(await hub.api.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: 'hello' })).toBeDefined();

  const side = (...objects: readonly KubeObject[]) => ({
    ...{ name: 'fleet', rank: 0, budget: { percent: 25, atLeast: 2 }, deletionWindowMs: undefined },
    ...{ allowEmpty: false, applies: true, kinds: ['*'], complete: true, objects: declared(...objects) },
  });
  const [base, head] = [side(addOn), side()];
  const now = '2026-01-01T00:00:00Z';
  const judged = await judgeDeletions(base, head, {
    ...{ before: [base], all: [head], memory: { annotations: {} }, now },
    hub: hub.api,
  });
  expect(judged.held?.message).toContain(text);
  expect(judged.held?.token).toBe(pruneHeld?.token);
});
