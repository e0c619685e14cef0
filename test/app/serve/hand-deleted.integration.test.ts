import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MANIFEST_WORK, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { readRecordLog } from '../../../src/adapters/store/record-log.ts';
import type { DeletionRecord } from '../../../src/core/sync/deletion-record.ts';
import { join } from 'node:path';
import { baseFiles, namespace, placement, replicaSet, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const WEB = { namespace: 'team-a', name: 'web' };
const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];

describe('a placement that somebody deletes on the hub', () => {
  let fleet: ServedFleet;
  let stopWatching: () => void;
  /** How many clusters the pages of the placement listed, after each change that a consumer saw. */
  let shown: number[];
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({
      ...baseFiles,
      'namespaces.yaml': yaml(...CLUSTERS.map(namespace)),
      'web.yaml': yaml(placement('web'), replicaSet),
    });
    await fleet.serve({ budget: { percent: 10, atLeast: 1 }, resyncIntervalMs: 86_400_000 });
    await fleet.published('web');
    await expect.poll(works).toBe(6);
    await fleet.event('ready');
    shown = [];
    stopWatching = await watchPages();
  });
  afterEach(async () => {
    stopWatching();
    await fleet.close();
  });

  const works = async () => (await fleet.hub.api.list(MANIFEST_WORK)).items.length;
  const uid = async () => (await fleet.hub.api.get(PLACEMENT, WEB))?.metadata.uid;

  /** As Argo CD's ApplicationSet controller reads them: by label. */
  async function watchPages(): Promise<() => void> {
    const stop = new AbortController();
    const { items, resourceVersion } = await fleet.hub.api.list(PLACEMENT_DECISION);
    const pages = new Map<string, KubeObject>(items.map((page) => [page.metadata.name, page]));
    void (async () => {
      const options = { resourceVersion, signal: stop.signal };
      for await (const event of fleet.hub.api.watch(PLACEMENT_DECISION, options)) {
        if (event.type === 'bookmark') continue;
        if (event.type === 'deleted') pages.delete(event.object.metadata.name);
        else pages.set(event.object.metadata.name, event.object);
        const decisions = [...pages.values()].flatMap(
          (page) => (page['status'] as { decisions?: object[] } | undefined)?.decisions ?? [],
        );
        shown.push(decisions.length);
      }
    })();
    return () => stop.abort();
  }

  it.each(['Background', 'Foreground'] as const)(
    'is applied again, and its pages, works and budget stay (%s deletion)',
    async (propagationPolicy) => {
      const before = await uid();
      const seen = fleet.events.length;
      await fleet.hub.api.delete(PLACEMENT, WEB, { propagationPolicy });
      await expect.poll(async () => [undefined, before].includes(await uid())).toBe(false);
      const now = await uid();
      await expect
        .poll(async () => {
          const [page] = (await fleet.hub.api.list(PLACEMENT_DECISION)).items;
          return page?.metadata.ownerReferences?.map((owner) => `${owner.kind} ${owner.uid === now}`);
        })
        .toEqual(['Placement true', 'Namespace false']);
      await expect.poll(async () => (await fleet.read('web')).status?.numberOfSelectedClusters).toBe(6);
      expect(await fleet.decisions('web')).toEqual(CLUSTERS);
      expect(new Set(shown)).toEqual(new Set([6]));
      expect(await works()).toBe(6);
      const since = fleet.events.slice(seen);
      expect(since.filter(({ kind }) => kind === 'held')).toEqual([]);
      expect(since).toContainEqual(
        expect.objectContaining({
          kind: 'deleted',
          record: expect.objectContaining({ object: 'Placement team-a/web', byOthers: true }) as unknown,
        }),
      );
      expect(
        (await readRecordLog<DeletionRecord>({ dir: join(fleet.dataDir, 'history'), name: 'deletions' })).map(
          ({ uid: of }) => of,
        ),
      ).toEqual([before]);
    },
  );

  it('is applied again while Git cannot be reached', async () => {
    const before = await uid();
    fleet.git.remove();
    await fleet.hub.api.delete(PLACEMENT, WEB);
    await expect.poll(async () => [undefined, before].includes(await uid())).toBe(false);
    expect(new Set(shown)).toEqual(new Set([6]));
  });

  it('takes its pages with it when it leaves Git', async () => {
    await fleet.stop();
    await fleet.serve({ budget: { percent: 100, atLeast: 100 } });
    fleet.git.commit({ 'web.yaml': yaml(placement('other', { numberOfClusters: 6 })) });
    await expect
      .poll(async () =>
        (await fleet.hub.api.list(PLACEMENT_DECISION)).items.map((page) => page.metadata.name),
      )
      .toEqual(['other-decision-1']);
  });

  it('takes its pages with it when it never was in Git', async () => {
    await fleet.hub.api.create(PLACEMENT, placement('theirs', {}, { 'berth.dev/scheduler': 'berth' }));
    await fleet.published('theirs');
    await fleet.hub.api.delete(PLACEMENT, { namespace: 'team-a', name: 'theirs' });
    await expect
      .poll(async () =>
        (await fleet.hub.api.list(PLACEMENT_DECISION)).items.map((page) => page.metadata.name),
      )
      .toEqual(['web-decision-1']);
  });

  it('while no process of Berth runs: its pages wait for the next one', async () => {
    await fleet.stop();
    const before = await uid();
    await fleet.hub.api.delete(PLACEMENT, WEB);
    await fleet.serve();
    await expect.poll(async () => [undefined, before].includes(await uid())).toBe(false);
    await fleet.event('ready');
    expect(new Set(shown)).toEqual(new Set([6]));
  });

  it('for good, while no process of Berth runs: the next one deletes its pages', async () => {
    await fleet.stop();
    fleet.git.commit({ 'web.yaml': yaml(placement('other')) });
    await fleet.hub.api.delete(PLACEMENT, WEB);
    await fleet.serve();
    await expect
      .poll(async () =>
        (await fleet.hub.api.list(PLACEMENT_DECISION)).items.map((page) => page.metadata.name),
      )
      .toEqual(['other-decision-1']);
  });
});
