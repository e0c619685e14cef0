import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { binding, cluster, clusterSet, namespace, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { CONTROL_PLANE_PROGRAMS } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { RealHub } from './peers/real-hub.ts';

const CLUSTER = 'cluster.open-cluster-management.io';
const PLACEMENTS = `/apis/${CLUSTER}/v1beta1/namespaces/team-a/placements`;
const PAGES = `/apis/${CLUSTER}/v1beta1/namespaces/team-a/placementdecisions`;
const ALL = ['c1', 'c2', 'c3', 'c4'];
const DISABLED = `${CLUSTER}/experimental-scheduling-disable`;

/** Both wrote one page 1,053 times in 30 s before. */
describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS, 'ocm/placement'))('beside OCM’s scheduler', () => {
  let hub: RealHub;
  let attempts = 0;
  beforeAll(async () => {
    hub = await RealHub.start();
    await hub.create(namespace('team-a'), clusterSet, binding(), ...ALL.map((name) => cluster(name)));
    await hub.ocm('ocm/placement');
  });
  afterAll(() => hub?.close());

  const pageOf = async (name: string): Promise<KubeObject | undefined> => {
    const selector = encodeURIComponent(`${CLUSTER}/placement=${name}`);
    const list = await hub.call('GET', `${PAGES}?labelSelector=${selector}`);
    return (list['items'] as KubeObject[])[0];
  };
  const clustersOf = async (name: string): Promise<readonly string[]> => {
    const status = (await pageOf(name))?.['status'] as { decisions?: { clusterName: string }[] } | undefined;
    return (status?.decisions ?? []).map(({ clusterName }) => clusterName).sort();
  };
  const placementOf = (name: string): Promise<KubeObject> => hub.call('GET', `${PLACEMENTS}/${name}`);
  const setTaints = (names: readonly string[], taints: readonly object[]): Promise<unknown> =>
    Promise.all(
      names.map((name) =>
        hub.call(
          'PATCH',
          `/apis/${CLUSTER}/v1/managedclusters/${name}`,
          { spec: { taints } },
          'application/merge-patch+json',
        ),
      ),
    );
  const drain = [{ key: 'drain', effect: 'NoSelect', timeAdded: '2026-01-01T00:00:00Z' }];

  it('leaves a placement that a person made to OCM, whatever OCM does with it', async () => {
    const berth = await hub.serve();
    await hub.create(placement('theirs'));
    await hub.until(async () => (await clustersOf('theirs')).length === ALL.length);
    // Berth would hold this.
    await setTaints(ALL.slice(1), drain);
    await hub.until(async () => (await clustersOf('theirs')).join() === 'c1');
    const managers = [await pageOf('theirs'), await placementOf('theirs')].flatMap(
      (object) => (object?.metadata.managedFields ?? []) as { manager?: string }[],
    );
    expect(managers.map(({ manager }) => manager)).not.toContain('berth');
    await setTaints(ALL, []);
    await berth.close();
  });

  it('annotates a placement that OCM decides, too, and keeps what it published', async () => {
    // Of its own: what an attempt before left does not count.
    const name = `web-${(attempts += 1)}`;
    await setTaints(ALL, []);
    // Without a budget: on a busy machine the taints come one by one, and the default lets two of four clusters go.
    const annotations = { 'berth.dev/scheduler': 'berth', 'berth.dev/removal-budget': '0' };
    await hub.create(placement(name, {}, annotations));
    await hub.until(async () => (await clustersOf(name)).length === ALL.length);
    const berth = await hub.serve();
    try {
      await hub.until(() => berth.events.some(({ kind }) => kind === 'ready'));
      await setTaints(ALL.slice(1), drain);
      await hub.until(() =>
        berth.events.some((event) => event.kind === 'held' && event.placement === `team-a/${name}`),
      );
      await hub.until(async () => (await placementOf(name)).metadata.annotations?.[DISABLED] === 'true');
      await hub.until(async () => (await clustersOf(name)).length === ALL.length);
      const held = ((await placementOf(name))['status'] as { conditions: { type: string }[] }).conditions;
      expect(held).toContainEqual(
        expect.objectContaining({ type: 'berth.dev/Held', status: 'True', reason: 'RemovalBudgetExceeded' }),
      );
    } finally {
      await berth.close();
    }
  });

  it('takes a placement over from OCM by a commit, and gives it back by another', async () => {
    await setTaints(ALL, []);
    const moved = `moved-${(attempts += 1)}`;
    await hub.create(placement(moved));
    await hub.until(async () => (await clustersOf(moved)).length === ALL.length);
    const before = await pageOf(moved);
    const git = new GitFixture();
    const other = { 'other.yaml': yaml(placement(`other-${attempts}`)) };
    git.commit({ ...other, 'moved.yaml': yaml(placement(moved)) });
    const berth = await hub.serve({ sources: [{ url: git.path }] });
    try {
      const annotation = async (): Promise<string | undefined> =>
        (await placementOf(moved)).metadata.annotations?.[DISABLED];
      await hub.until(async () => (await annotation()) === 'true');
      const published = `team-a/${moved}`;
      await hub.until(() => berth.events.some(({ kind }) => kind === 'ready'));
      expect(await clustersOf(moved)).toEqual(ALL);
      expect((await pageOf(moved))?.metadata.uid).toBe(before?.metadata.uid);
      // Berth decides now: OCM would take these clusters away, and knows no hold.
      await setTaints(ALL.slice(1), drain);
      await hub.until(() =>
        berth.events.some((event) => event.kind === 'held' && event.placement === published),
      );
      await setTaints(ALL, []);

      git.commit({ 'moved.yaml': undefined });
      await hub.until(async () => (await annotation()) === undefined);
      expect((await pageOf(moved))?.metadata.uid).toBe(before?.metadata.uid);
      expect(await clustersOf(moved)).toEqual(ALL);
      await setTaints(ALL.slice(1), drain);
      await hub.until(async () => (await clustersOf(moved)).join() === 'c1');
    } finally {
      await berth.close();
      git.remove();
    }
  });
});
