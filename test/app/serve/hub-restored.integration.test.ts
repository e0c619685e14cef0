import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import type { ServeOptions } from '../../../src/app/settings/serve-options.ts';
import {
  CONFIG_MAP,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { startHub } from '@berth/embedded-hub/start-hub';
import { OCM_HUB, startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import {
  baseFiles,
  binding,
  cluster,
  clusterSet,
  namespace,
  placement,
  replicaSet,
  retired,
  yaml,
} from './fleet-fixture.ts';
import { decisionsOn, ServedFleet } from './served-fleet.ts';
import { WaitingKubeApi } from './waiting-kube-api.ts';

/** More objects than may leave without a release. */
const settings = yaml(
  ...Array.from({ length: 14 }, (_, at) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `s${at}`, namespace: 'team-a', labels: { duty: 'settings' } },
  })),
);
const REMAINING = ['c4', 'c5', 'c6'];
/** Half of six clusters may leave, and these are spent when three have left. */
const OPTIONS: Partial<ServeOptions> = {
  budget: { percent: 50, atLeast: 1 },
  // Without the restore nothing compares the hub with Git.
  resyncIntervalMs: 86_400_000,
};

describe('a hub that is restored from a backup', () => {
  let fleet: ServedFleet;
  let root: string;
  let hub: RunningHub;
  let api: WaitingKubeApi;
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'berth-restored-'));
    fleet = await ServedFleet.create({ dataDir: join(root, 'data') });
    hub = fleet.hub.hub;
    fleet.git.commit({
      ...baseFiles,
      'web.yaml': yaml(placement('web'), replicaSet),
      'settings.yaml': settings,
    });
    api = new WaitingKubeApi(fleet.hub.api);
    await fleet.serve({ ...OPTIONS, api });
    await fleet.event('published', ({ clusters }) => clusters.length === 6);
    await expect.poll(works).toBe(6);
    await restart(() => cpSync(join(root, 'data'), join(root, 'backup'), { recursive: true }));
    fleet.git.commit({ 'clusters.yaml': retired(3) });
    await expect.poll(() => fleet.decisions('web')).toEqual(REMAINING);
    await fleet.event('published', ({ clusters }) => clusters.length === 3);
    await expect.poll(works).toBe(3);
  });
  afterEach(async () => {
    // Otherwise a test that fails before it does so could not be closed.
    api.release();
    api.failStatus = false;
    await fleet.stop();
    await hub.close();
    await fleet.close();
    rmSync(root, { recursive: true, force: true });
  });

  const works = async () => (await fleet.hub.api.list(MANIFEST_WORK)).items.length;

  async function restart(meanwhile: () => void | Promise<void>): Promise<void> {
    const { port } = hub;
    await hub.close();
    await meanwhile();
    hub = await startHub({ ...OCM_HUB, dataDir: join(root, 'data'), listen: { port } });
  }

  /** @param change what happens on the restored hub before anybody else reaches it */
  const restore = (change?: (api: KubeApi) => Promise<void>) =>
    restart(async () => {
      rmSync(join(root, 'data'), { recursive: true });
      cpSync(join(root, 'backup'), join(root, 'data'), { recursive: true });
      if (change === undefined) return;
      const alone = await startHub({ ...OCM_HUB, dataDir: join(root, 'data') });
      const config = loadKubeConfig({ file: alone.adminKubeconfigPath });
      const client = new HttpKubeApi({ config, clock: systemClock });
      await change(client);
      client.close();
      await alone.close();
    });

  const spentNothing = (seen: number) => {
    const moves = fleet.events
      .slice(seen)
      .flatMap((event) => (event.kind === 'published' ? [[event.added, event.removed]] : []));
    expect(moves.filter(([added = [], removed = []]) => added.length + removed.length > 0)).toEqual([]);
    expect(fleet.events.slice(seen).filter(({ kind }) => kind === 'held')).toEqual([]);
  };

  it('while the controller runs: Git is applied first, no other decision is published, no work is written, no budget is used', async () => {
    const seen = fleet.events.length;
    const written = api.worksWritten;
    api.hold();
    await restore();
    expect(await fleet.event('hub-restored', undefined, seen)).toMatchObject({ how: 'restored' });
    // By what the restored hub says, all six are wanted again.
    await fleet.event('decided', ({ result }) => result.selected.length === 6, seen);
    await expect.poll(() => fleet.decisions('web')).toEqual(REMAINING);
    // The works of the other three are there again, and no decision asks for them. Without the gate they go within milliseconds.
    await fleet.advance(500);
    expect([await works(), api.worksWritten - written]).toEqual([6, 0]);
    api.release();
    await fleet.event('synced', ({ applied }) => applied > 0, seen);
    await expect.poll(works).toBe(3);
    expect(await fleet.decisions('web')).toEqual(REMAINING);
    spentNothing(seen);
  });

  it('before the controller knows it: a write that failed is not repeated on the restored hub', async () => {
    // A work of the replica set is deleted. The watch does not show that, and the next request of the pass fails.
    api.failStatus = true;
    api.hideWorks();
    fleet.git.commit({ 'web.yaml': yaml(placement('web', { numberOfClusters: 2 }), replicaSet) });
    const failed = fleet.event('error', ({ where }) => where === 'replica set team-a/web');
    await expect.poll(works).toBe(2);
    await failed;
    const seen = fleet.events.length;
    const written = api.worksWritten;
    api.hold();
    await restore();
    await fleet.event('hub-restored', undefined, seen);
    await fleet.advance(500);
    expect([await works(), api.worksWritten - written]).toEqual([6, 0]);
  });

  it('while the controller is stopped: Git is applied first, and no budget is used', async () => {
    await fleet.stop();
    await restore();
    await fleet.serve(OPTIONS);
    expect(await fleet.event('hub-restored')).toMatchObject({ how: 'restored' });
    await expect.poll(() => fleet.decisions('web')).toEqual(REMAINING);
    await fleet.event('ready');
    spentNothing(0);
  });

  it('while the controller runs, and has passed what was seen since: pages that are gone are written again', async () => {
    const seen = fleet.events.length;
    await restore(async (restored) => {
      const [page] = (await restored.list(PLACEMENT_DECISION)).items;
      await restored.delete(PLACEMENT_DECISION, { namespace: 'team-a', name: page?.metadata.name ?? '' });
      for (let n = 0; n < 300; n++) await restored.create(NAMESPACE, namespace(`n${n}`));
    });
    expect(await fleet.event('hub-restored', undefined, seen)).toMatchObject({ how: 'restored' });
    await expect.poll(() => fleet.decisions('web')).toEqual(REMAINING);
    await expect.poll(works).toBe(3);
    spentNothing(seen);
  });

  const settingsLeft = async () =>
    (await fleet.hub.api.list(CONFIG_MAP, { namespace: 'team-a', labelSelector: 'duty=settings' })).items
      .length;
  const parentKey = { namespace: 'berth-system', name: 'berth-fleet' };
  const countedDeletions = async () =>
    (await fleet.hub.api.get(CONFIG_MAP, parentKey))?.metadata.annotations?.['berth.dev/recent-deletions'] ??
    '';

  async function releaseSettings(): Promise<void> {
    const seen = fleet.events.length;
    fleet.git.commit({ 'settings.yaml': undefined });
    const { message } = await fleet.event('sync-problem', undefined, seen);
    const code = /--token (\S+)/.exec(message)?.[1];
    const metadata = { annotations: { 'berth.dev/release': code } };
    await fleet.hub.api.mergePatch(CONFIG_MAP, parentKey, { metadata });
    await expect.poll(settingsLeft).toBe(0);
  }

  it.each(['runs', 'is stopped'])(
    'while the controller %s: what Git deleted before is deleted again without a release, and uses no budget',
    async (how) => {
      await releaseSettings();
      if (how === 'is stopped') await fleet.stop();
      const seen = how === 'runs' ? fleet.events.length : 0;
      await restore();
      if (how === 'is stopped') await fleet.serve(OPTIONS);
      await fleet.event('hub-restored', undefined, seen);
      await fleet.event('deleted', undefined, seen);
      await expect.poll(settingsLeft).toBe(0);
      expect(fleet.events.slice(seen).filter(({ kind }) => kind === 'sync-problem')).toEqual([]);
      expect(await countedDeletions()).toBe('');
    },
  );

  it('what Git deletes only after the restore is held', async () => {
    await fleet.stop();
    await restore();
    fleet.git.commit({ 'settings.yaml': undefined });
    await fleet.serve(OPTIONS);
    expect((await fleet.event('sync-problem')).message).toContain('14 of 25 objects left Git (budget 12)');
    expect(await settingsLeft()).toBe(14);
  });

  it('what Git took in again and deletes later is held as anything else', async () => {
    await releaseSettings();
    await fleet.stop();
    await restore();
    fleet.git.commit({ 'settings.yaml': settings });
    await fleet.serve(OPTIONS);
    await fleet.event('ready');
    fleet.git.commit({ 'settings.yaml': undefined });
    expect((await fleet.event('sync-problem')).message).toContain('14 of 25 objects left Git (budget 12)');
    expect(await settingsLeft()).toBe(14);
  });

  it('is not assumed when the hub was only restarted', async () => {
    const seen = fleet.events.length;
    await restart(() => undefined);
    await fleet.event('error', undefined, seen);
    fleet.git.commit({ 'other.yaml': yaml(placement('other')) });
    await fleet.published('other', seen);
    await fleet.stop();
    await fleet.serve(OPTIONS);
    await fleet.event('ready');
    expect(fleet.events.filter(({ kind }) => kind === 'hub-restored')).toEqual([]);
  });
});

/** A client whose hub can be replaced by another one, as behind an address. */
class MovingKubeApi extends InterceptedKubeApi {
  moveTo(hub: KubeApi): void {
    Object.assign(this, { inner: hub });
  }

  protected override write<T>(request: () => Promise<T>): Promise<T> {
    return request();
  }
}

describe('a hub that is replaced by another one', () => {
  let fleet: ServedFleet;
  let other: Awaited<ReturnType<typeof startEmbeddedHub>>;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    other = await startEmbeddedHub();
  });
  afterEach(async () => {
    await fleet.stop();
    await other.close();
    await fleet.close();
  });

  it('has Git applied before anything is decided on what it holds', async () => {
    fleet.git.commit({ ...baseFiles, 'clusters.yaml': retired(3), 'web.yaml': yaml(placement('web')) });
    const api = new MovingKubeApi(fleet.hub.api);
    await fleet.serve({ ...OPTIONS, api, sources: [{ url: fleet.git.path, force: true }] });
    await fleet.published('web');
    // An older state of the fleet; its versions are beyond those of the first hub.
    for (const name of ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'])
      await other.api.create(MANAGED_CLUSTER, cluster(name));
    await other.api.create(NAMESPACE, namespace('team-a'));
    await other.api.create(MANAGED_CLUSTER_SET, clusterSet);
    await other.api.create(MANAGED_CLUSTER_SET_BINDING, binding());
    await other.api.create(PLACEMENT, placement('web'));
    for (let n = 0; n < 200; n++) await other.api.create(NAMESPACE, namespace(`n${n}`));

    const seen = fleet.events.length;
    api.moveTo(other.api);
    await fleet.hub.hub.close();
    expect(await fleet.event('hub-restored', undefined, seen)).toMatchObject({ how: 'replaced' });
    await fleet.event('synced', ({ applied }) => applied > 0, seen);
    await expect.poll(() => decisionsOn(other.api, 'web')).toEqual(REMAINING);
    // The last publication is restored before Git is applied, without an event; else it is published once after that.
    const published = fleet.events
      .slice(seen)
      .flatMap((event) => (event.kind === 'published' ? [event] : []));
    expect(published.length).toBeLessThanOrEqual(1);
    for (const { clusters } of published) expect(clusters).toEqual(REMAINING);
    expect(fleet.events.slice(seen).filter(({ kind }) => kind === 'held')).toEqual([]);
  });
});
