import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SourceDeclarations } from '../../../../src/controllers/sources/progress/source-declarations.ts';
import { CONFIG_MAP, type KindInfo, NAMESPACE, SECRET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SteeredClock } from '../../../fakes/steered-clock.ts';
import { baseFiles, placement, yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { hubSyncFor } from './hub-sync-fixture.ts';
import { interceptedApi } from './intercepted-api.ts';

const web = (count: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters: count })) });
const other = (count: number) => ({ 'other.yaml': yaml(placement('other', { numberOfClusters: count })) });
/** Of a kind that nothing watches. */
const settings = {
  'settings.yaml': yaml({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'team-a', name: 'settings' },
  }),
};

describe('following commit after commit', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(() => fleet.close());

  /** The hub's client, with the lists of the ApplySet's members counted. */
  const counting = () => {
    const counts = { memberLists: 0 };
    const api = interceptedApi(fleet.hub.api, (method, args) => {
      const [, options] = args as [unknown, { labelSelector?: string } | undefined];
      if (method === 'list' && options?.labelSelector?.startsWith('applyset')) counts.memberLists += 1;
    });
    return { api, counts };
  };

  it('looks at what changed in Git, and at the whole hub only when something left', async () => {
    const { api, counts } = counting();
    fleet.git.commit({ ...baseFiles, ...web(1), ...other(1) });
    await fleet.serve({ api });
    await fleet.published('web');
    await fleet.event('synced');
    const lists = counts.memberLists;
    expect(lists).toBeGreaterThan(0);
    let after = fleet.events.length;
    fleet.git.commit(web(2));
    expect((await fleet.published('web', after)).clusters).toHaveLength(2);
    expect(await fleet.event('synced', () => true, after)).toMatchObject({ applied: 1, pruned: 0 });
    expect(counts.memberLists).toBe(lists);
    after = fleet.events.length;
    fleet.git.commit({ 'other.yaml': undefined });
    expect(await fleet.event('synced', () => true, after)).toMatchObject({ applied: 0, pruned: 1 });
    expect(counts.memberLists).toBeGreaterThan(lists);
  });

  it('puts back at the interval what was deleted by hand, although commits keep coming', async () => {
    const clock = new SteeredClock();
    fleet.git.commit({ ...baseFiles, ...settings, ...other(1) });
    await fleet.serve({ clock, resyncIntervalMs: 3_600_000 });
    await fleet.published('other');
    await fleet.event('synced');
    const key = { namespace: 'team-a', name: 'settings' };
    await fleet.hub.api.delete(CONFIG_MAP, key);
    // Each of them well before the next look at the whole hub would be due if it counted from there.
    for (let commits = 0; commits < 3; commits++) {
      expect(await fleet.hub.api.get(CONFIG_MAP, key)).toBeUndefined();
      const after = fleet.events.length;
      fleet.git.commit(other(2 + commits));
      await fleet.event('synced', ({ applied }) => applied > 0, after);
      clock.skip(1_250_000);
    }
    await fleet.until(() => fleet.hub.api.get(CONFIG_MAP, key));
  });
});

describe('filling a hub, and comparing it again', () => {
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  beforeAll(async () => {
    hub = await startEmbeddedHub();
  });
  afterAll(() => hub.close());

  function sourceOf(name: string, objects: readonly KubeObject[]) {
    const requests: string[] = [];
    const api = interceptedApi(hub.api, (method, [kind, about]) => {
      const { metadata, name: key } = about as KubeObject & { name?: string };
      requests.push(`${method} ${(kind as KindInfo).plural} ${key ?? metadata?.name ?? ''}`);
    });
    const declarations = new SourceDeclarations(new FakeClock(), [{ name, force: false }]);
    const sync = hubSyncFor({ api, source: name, declarations });
    const location = { file: 'a.yaml', line: 1, column: 1 };
    const input = { objects: objects.map((object) => ({ object, location })), complete: true };
    return { requests, sync: () => sync.sync(input) };
  }
  const inNamespace = (namespace: string, name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data: { name },
  });

  it('makes a namespace once for all objects that are written at the same time', async () => {
    const objects = Array.from({ length: 12 }, (_, at) => inNamespace('shop', `settings-${at}`));
    const { requests, sync } = sourceOf('shop', objects);
    expect(await sync()).toMatchObject({ applied: 12, problems: [] });
    const about = requests.filter((request) => request.endsWith(` ${NAMESPACE.plural} shop`));
    expect(about).toEqual(['get namespaces shop', 'create namespaces shop']);
  });

  it('does not write again what the hub stores in another form, unless somebody changed it', async () => {
    const key = { namespace: 'default', name: 'login' };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: key, stringData: { user: 'web' } };
    const { sync } = sourceOf('forms', [secret, inNamespace('default', 'plain')]);
    expect(await sync()).toMatchObject({ applied: 2, unchanged: 0, problems: [] });
    expect(await sync()).toMatchObject({ applied: 0, unchanged: 2, problems: [] });
    await hub.api.mergePatch(SECRET, key, { data: { user: 'b3RoZXI=' } }, { fieldManager: 'kubectl-edit' });
    expect(await sync()).toMatchObject({ applied: 1, unchanged: 1, problems: [] });
    expect((await hub.api.get(SECRET, key))?.['data']).toEqual({ user: 'd2Vi' });
    expect(await sync()).toMatchObject({ applied: 0, unchanged: 2, problems: [] });
  });
});
