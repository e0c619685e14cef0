import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ControllerEvent } from '../../src/controllers/events/controller-events.ts';
import { TransientError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { ListOptions, ObjectList, WatchEvent, WatchOptions } from '@berth/kube/model/kube-api';
import { baseFiles, namespace, placement, retired, yaml } from '../app/serve/fleet-fixture.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { CONTROL_PLANE_PROGRAMS } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { RealHub } from './peers/real-hub.ts';

const NAMES = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8'];
const PAGES = '/apis/cluster.open-cluster-management.io/v1beta1/namespaces/team-a/placementdecisions';

/** A client that loses its way to the hub until it is let through again. */
class CutOffKubeApi extends InterceptedKubeApi {
  isCutOff = false;

  override list(kind: KindInfo, options?: ListOptions): Promise<ObjectList> {
    return this.#check(() => super.list(kind, options));
  }

  override async *watch(kind: KindInfo, options: WatchOptions): AsyncIterable<WatchEvent> {
    await this.#check(() => Promise.resolve());
    yield* super.watch(kind, options);
  }

  protected override write<T>(request: () => Promise<T>): Promise<T> {
    return this.#check(request);
  }

  #check<T>(request: () => Promise<T>): Promise<T> {
    if (!this.isCutOff) return request();
    return Promise.reject(new TransientError('cut off', { code: 'kube.network', subject: 'test' }));
  }
}

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))(
  'a real hub whose etcd is restored from a backup',
  () => {
    let hub: RealHub;
    let git: GitFixture;
    let api: CutOffKubeApi;
    let events: ControllerEvent[];
    beforeEach(() => {
      git = new GitFixture();
    });
    afterEach(async () => {
      await hub?.close();
      git.remove();
    });

    const missing = async (): Promise<string> => {
      const { status: answer, body } = await hub.plane.client.call('GET', PAGES);
      // For a while after its start the server does not serve custom resources.
      if (answer !== 200) return `no answer: ${answer}`;
      const { items } = body as {
        items: { metadata: { name: string }; status?: { decisions?: { clusterName: string }[] } }[];
      };
      const whole = items.filter(({ status }) => status?.decisions?.length === 3);
      const names = whole.map(({ metadata }) => metadata.name);
      return NAMES.filter((name) => !names.includes(`${name}-decision-1`)).join(' ');
    };

    /** Six clusters at the backup; after it three leave, and eight placements come. */
    async function publish(flags: readonly string[] = []): Promise<void> {
      hub = await RealHub.start(flags);
      git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
      api = new CutOffKubeApi(hub.api);
      const berth = await hub.serve({
        api,
        sources: [{ url: git.path }],
        budget: { percent: 50, atLeast: 1 },
        resyncIntervalMs: 86_400_000,
      });
      ({ events } = berth);
      await hub.until(() =>
        events.some((event) => event.kind === 'published' && event.clusters.length === 6),
      );
      await hub.plane.backUp();
      git.commit({ 'clusters.yaml': retired(3), 'more.yaml': yaml(...NAMES.map((name) => placement(name))) });
      const isPublished = (name: string): boolean =>
        events.some(
          (event) =>
            event.kind === 'published' && event.placement === `team-a/${name}` && event.clusters.length === 3,
        );
      await hub.until(() => ['web', ...NAMES].every(isPublished), OUTAGE_PATIENCE_MS);
    }

    async function isRepaired(seen: number, sinceMs: number): Promise<void> {
      await hub.until(
        () => events.slice(seen).some(({ kind }) => kind === 'hub-restored'),
        OUTAGE_PATIENCE_MS,
      );
      const foundAfterMs = Date.now() - sinceMs;
      await hub.until(async () => (await missing()) === '');
      console.info(`found after ${foundAfterMs} ms, repaired after ${Date.now() - sinceMs} ms`);
      const since = events.slice(seen);
      expect(since.filter(({ kind }) => kind === 'held')).toEqual([]);
      const removals = since.flatMap((event) =>
        event.kind === 'published' && event.removed.length > 0 ? [[event.placement, ...event.removed]] : [],
      );
      expect(removals).toEqual([]);
    }

    it('finds it when the versions of the hub went back', async () => {
      await publish();
      const seen = events.length;
      await hub.plane.restore();
      const sinceMs = Date.now();
      await isRepaired(seen, sinceMs);
    });

    it('finds it when the hub has passed what was seen', async () => {
      await publish();
      const seen = events.length;
      api.isCutOff = true;
      await hub.plane.restore();
      await hub.create(...Array.from({ length: 400 }, (_, at) => namespace(`n${at}`)));
      api.isCutOff = false;
      const sinceMs = Date.now();
      await isRepaired(seen, sinceMs);
    });

    it('finds it under open watches of an API server without a watch cache', async () => {
      await publish(['--watch-cache=false']);
      const seen = events.length;
      await hub.plane.restore([]);
      const sinceMs = Date.now();
      await isRepaired(seen, sinceMs);
    });
  },
);
