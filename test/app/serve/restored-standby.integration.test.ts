import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServeOptions } from '../../../src/app/settings/serve-options.ts';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { OCM_HUB } from '../../fakes/embedded-hub.ts';
import { startHub } from '@berth/embedded-hub/start-hub';
import { SteeredLeadership } from '../../fakes/steered-leadership.ts';
import { baseFiles, namespace, placement, replicaSet, retired, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';
import { WaitingKubeApi } from './waiting-kube-api.ts';

const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
const REMAINING = ['c4', 'c5', 'c6'];
const OPTIONS: Partial<ServeOptions> = {
  embedded: false,
  // Half of six clusters may leave, and these are spent when three have left.
  budget: { percent: 50, atLeast: 1 },
  resyncIntervalMs: 86_400_000,
};

describe('a process that takes the Lease on a hub that is restored from a backup', () => {
  let leader: ServedFleet;
  let root: string;
  let hub: RunningHub;
  let fleet: ServedFleet;
  let api: WaitingKubeApi;
  let leadership: SteeredLeadership;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'berth-restored-'));
    leader = await ServedFleet.create({ dataDir: join(root, 'data') });
    hub = leader.hub.hub;
    leader.git.commit({
      ...baseFiles,
      'namespaces.yaml': yaml(...CLUSTERS.map(namespace)),
      'rollout.yaml': yaml(replicaSet),
      'web.yaml': yaml(placement('web')),
    });
    // It reads from the same repository and writes to the same hub.
    fleet = await ServedFleet.create();
    api = new WaitingKubeApi(leader.hub.api);
    leadership = new SteeredLeadership();
  });
  afterEach(async () => {
    api.release();
    api.showDecisions();
    await fleet.close();
    await leader.stop();
    await hub.close();
    await leader.close();
    rmSync(root, { recursive: true, force: true });
  });

  const standBy = () => fleet.serve({ ...OPTIONS, api, leadership, sources: [{ url: leader.git.path }] });
  const decisions = () => leader.decisions('web');
  const works = async () => (await leader.hub.api.list(MANIFEST_WORK)).items.length;

  async function restart(meanwhile: () => void): Promise<void> {
    const { port } = hub;
    await hub.close();
    meanwhile();
    hub = await startHub({ ...OCM_HUB, dataDir: join(root, 'data'), listen: { port } });
  }

  /** A backup is made of six clusters; then three of them leave. */
  async function publishAndBackUp(): Promise<void> {
    await expect.poll(decisions).toEqual(CLUSTERS);
    await expect.poll(works).toBe(6);
    await restart(() => cpSync(join(root, 'data'), join(root, 'backup'), { recursive: true }));
    leader.git.commit({ 'clusters.yaml': retired(3) });
    await expect.poll(decisions).toEqual(REMAINING);
    await expect.poll(works).toBe(3);
  }

  const restore = (meanwhile: () => void = () => undefined) =>
    restart(() => {
      rmSync(join(root, 'data'), { recursive: true });
      cpSync(join(root, 'backup'), join(root, 'data'), { recursive: true });
      meanwhile();
    });

  const spentNothing = (seen: number) => {
    const moves = fleet.events
      .slice(seen)
      .flatMap((event) => (event.kind === 'published' ? [[...event.added, ...event.removed]] : []));
    expect(moves.flat()).toEqual([]);
    expect(fleet.events.slice(seen).filter(({ kind }) => kind === 'held')).toEqual([]);
  };

  async function leaderEnds(): Promise<number> {
    await expect.poll(async () => (await leader.read('web')).status?.numberOfSelectedClusters).toBe(3);
    await leader.stop();
    // Its watches were broken by the backup. While one is late, it does not know what the leader published last.
    await expect.poll(() => [api.shown, api.counted]).toEqual([REMAINING, 3]);
    return fleet.events.length;
  }

  /** The leader publishes two clusters and ends; the other process takes over and leaves it at that. */
  async function followsWithTwo(seen: number): Promise<void> {
    leader.git.commit({ 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) });
    await expect.poll(async () => (await decisions()).length).toBe(2);
    const two = await decisions();
    await fleet.event('decided', ({ result }) => result.selected.length === 2, seen);
    await expect.poll(async () => (await leader.read('web')).status?.numberOfSelectedClusters).toBe(2);
    await leader.stop();
    leadership.take();
    await fleet.event('synced', undefined, seen);
    await expect.poll(works).toBe(2);
    expect(await decisions()).toEqual(two);
    spentNothing(seen);
  }

  it('goes back to what the leader had published, waits for the comparison, and uses no budget', async () => {
    await leader.serve(OPTIONS);
    await standBy();
    await publishAndBackUp();
    await fleet.event('decided', ({ result }) => result.selected.length === 3);
    const seen = await leaderEnds();
    api.hold();
    await restore();
    expect(await fleet.event('hub-restored', undefined, seen)).toMatchObject({ how: 'restored' });
    // By what the restored hub says, all six are wanted again.
    await fleet.event('decided', ({ result }) => result.selected.length === 6, seen);
    leadership.take();
    await expect.poll(decisions).toEqual(REMAINING);
    // Its requests go to the leader's hub.
    for (const one of [fleet, leader]) await one.advance(500);
    expect(await decisions()).toEqual(REMAINING);
    expect([await works(), api.worksWritten]).toEqual([6, 0]);
    api.release();
    await fleet.event('synced', ({ applied }) => applied > 0, seen);
    await expect.poll(works).toBe(3);
    expect(await decisions()).toEqual(REMAINING);
    spentNothing(seen);
  });

  it('finds that out before it writes when it took the Lease first', async () => {
    await leader.serve(OPTIONS);
    await standBy();
    await publishAndBackUp();
    await fleet.event('decided', ({ result }) => result.selected.length === 3);
    const seen = await leaderEnds();
    await restore(() => leadership.take());
    await fleet.event('synced', ({ applied }) => applied > 0, seen);
    await expect.poll(decisions).toEqual(REMAINING);
    await expect.poll(works).toBe(3);
    spentNothing(seen);
  });

  it('judges by what a leader published since the restore', async () => {
    await leader.serve(OPTIONS);
    await standBy();
    await publishAndBackUp();
    const seen = fleet.events.length;
    await restore();
    await fleet.event('hub-restored', undefined, seen);
    await expect.poll(decisions).toEqual(REMAINING);
    await followsWithTwo(seen);
  });

  it('judges by what a leader published last though its watch does not show that yet', async () => {
    await leader.serve(OPTIONS);
    await standBy();
    await publishAndBackUp();
    await expect.poll(() => api.shown).toEqual(REMAINING);
    const seen = fleet.events.length;
    api.hideDecisions();
    await followsWithTwo(seen);
  });

  it('keeps what its data directory says of publications when the Lease shows an earlier term', async () => {
    await standBy();
    leadership.take('4@1000', '5@2000');
    await publishAndBackUp();
    await fleet.event('published', ({ clusters }) => clusters.length === 3);
    await fleet.stop();
    await restore();
    leadership = new SteeredLeadership();
    await standBy();
    leadership.take('4@1000', '5@3000');
    expect(await fleet.event('hub-restored')).toMatchObject({ how: 'restored' });
    await fleet.event('synced', ({ applied }) => applied > 0);
    await expect.poll(decisions).toEqual(REMAINING);
    await expect.poll(works).toBe(3);
    spentNothing(0);
  });
});
