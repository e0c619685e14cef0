import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KindInfo, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import { DECISION_SLICE } from '../../src/core/publish/pages/decision-slice.ts';
import { baseFiles, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { CONTROL_PLANE_PROGRAMS } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { RealHub } from './peers/real-hub.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WEB = '/apis/cluster.open-cluster-management.io/v1beta1/namespaces/team-a/placements/web';

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS, 'kube-controller-manager'))(
  'a placement that is deleted by hand, with the garbage collector of Kubernetes',
  () => {
    let hub: RealHub;
    let git: GitFixture;
    beforeAll(async () => {
      git = new GitFixture();
      git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
      hub = await RealHub.start();
      for (const crd of ocmCrds([DECISION_SLICE.group])) await hub.call('POST', CRDS, crd);
      await hub.collectGarbage();
    });
    afterAll(async () => {
      await hub?.close();
      git.remove();
    });

    it.each(['Background', 'Foreground'])(
      'is back, and its pages and slices never go (%s deletion)',
      async (policy) => {
        const berth = await hub.serve({
          sources: [{ url: git.path }],
          budget: { percent: 10, atLeast: 1 },
          resyncIntervalMs: 86_400_000,
          multiclusterDecisions: true,
        });
        await hub.until(() => berth.events.some(({ kind }) => kind === 'ready'));
        await hub.until(
          async () =>
            ((await live())['status'] as { numberOfSelectedClusters?: number } | undefined)
              ?.numberOfSelectedClusters === 6,
        );
        await hub.until(async () => clustersOf((await hub.api.list(DECISION_SLICE)).items[0]) === 6);
        const before = (await live()).metadata.uid;
        const stop = new AbortController();
        const shown = watchClusters(PLACEMENT_DECISION, stop.signal);
        const sliced = watchClusters(DECISION_SLICE, stop.signal);
        const page = async () => (await hub.api.list(PLACEMENT_DECISION)).items[0];
        const owners = (await page())?.metadata.ownerReferences?.map(({ kind }) => kind);
        expect(owners).toEqual(['Placement', 'Namespace']);

        await hub.call('DELETE', WEB, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: policy });
        const sinceMs = Date.now();
        await hub.until(async () => ![undefined, before].includes((await live()).metadata.uid));
        console.info(`back after ${Date.now() - sinceMs} ms`);
        const after = (await live()).metadata.uid;
        await hub.until(
          async () => (await page())?.metadata.ownerReferences?.some(({ uid }) => uid === after) === true,
        );
        expect([...new Set(shown)]).toEqual([6]);
        expect(sliced).toEqual([]);
        expect(berth.events.filter(({ kind }) => kind === 'held')).toEqual([]);
        stop.abort();
        await berth.close();
      },
    );

    const live = async (): Promise<KubeObject> => (await hub.plane.client.call('GET', WEB)).body;

    /** How many clusters the pages listed after each change, as a consumer sees it. */
    function watchClusters(kind: KindInfo, signal: AbortSignal): number[] {
      const shown: number[] = [];
      const pages = new Map<string, number>();
      void (async () => {
        const { items, resourceVersion } = await hub.api.list(kind);
        for (const page of items) pages.set(page.metadata.name, clustersOf(page));
        for await (const event of hub.api.watch(kind, { resourceVersion, signal })) {
          if (event.type === 'bookmark') continue;
          if (event.type === 'deleted') pages.delete(event.object.metadata.name);
          else pages.set(event.object.metadata.name, clustersOf(event.object));
          shown.push([...pages.values()].reduce((sum, count) => sum + count, 0));
        }
      })();
      return shown;
    }
  },
);

/** Of a page, or of a slice. */
function clustersOf(page: KubeObject | undefined): number {
  const listed = (page?.['status'] ?? page) as { decisions?: object[] } | undefined;
  return (listed?.decisions ?? []).length;
}
