import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControllerEvent } from '../../../src/controllers/events/controller-events.ts';
import type { RunningController } from '../../../src/app/serve/serve-controller.ts';
import { GITOPS_CLUSTERS } from '../../../src/core/argocd/argocd-kinds.ts';
import { type KindInfo, MANAGED_CLUSTER, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { cluster, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { GitFixture } from '../../../packages/git-reader/test/fakes/git-fixture.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { APPLICATION_SET, SECRET } from './argo-installation.ts';
import { allowPages, PAGES_DATA } from './decision-pages.ts';
import { GeneratorWorld, selecting, until } from './generator-world.ts';

const [GITOPS_CLUSTER] = GITOPS_CLUSTERS as readonly [KindInfo];
const REFRESHED_FOR = 'berth.dev/refreshed-for';
/** So far apart that no poll explains an Application: Argo CD's own default for plugins. */
const POLL = { requeueAfterSeconds: 1_800 };

const plugin = (name: string) => ({
  plugin: {
    configMapRef: { name: 'berth' },
    input: { parameters: { placement: `team-a/${name}` } },
    ...POLL,
  },
});
const pages = (name: string) => ({
  clusterDecisionResource: {
    configMapRef: 'pages',
    labelSelector: { matchLabels: { 'cluster.open-cluster-management.io/placement': name } },
    ...POLL,
  },
});
/** No application controller runs here that would take a finalizer away. */
const WITHOUT_FINALIZER = { syncPolicy: { preserveResourcesOnDeletion: true } };

describe.skipIf(!hasPeers('argocd'))(
  'ApplicationSets with Argo CD’s own controller, and placements in Git',
  () => {
    const git = new GitFixture();
    const events: ControllerEvent[] = [];
    let world: GeneratorWorld;
    let berth: RunningController;

    const place = (name: string, clusters: readonly string[], ns = 'team-a'): void => {
      git.commit({ [`${ns}-${name}.yaml`]: yaml(placement(name, selecting(clusters), {}, ns)) });
      berth?.reconcile();
    };
    const applications = async (set: string): Promise<readonly string[]> =>
      Object.keys(await world.applications(set)).sort();
    const generates = (set: string, clusters: readonly string[]): Promise<void> =>
      until(async () => expect(await applications(set)).toEqual(clusters.map((name) => `${set}-${name}`)));
    const refreshedFor = async (set: string): Promise<string | undefined> =>
      (await world.api.get(APPLICATION_SET, { namespace: 'argocd', name: set }))?.metadata.annotations?.[
        REFRESHED_FOR
      ];
    /** Nothing is asked for any more. */
    const settled = (): Promise<void> =>
      until(async () => {
        const { items } = await world.api.list(APPLICATION_SET);
        for (const { metadata } of items) {
          expect(metadata.annotations?.['argocd.argoproj.io/application-set-refresh']).toBeUndefined();
          expect(metadata.annotations?.[REFRESHED_FOR]).toBeDefined();
        }
      });
    const serve = async (): Promise<void> => {
      berth = await world.serve({
        sources: [{ url: git.path }],
        embedded: true,
        argocd: {
          namespace: 'argocd',
          refresh: true,
          clusterSecrets: true,
          pull: false,
          pluginConfigMaps: ['berth'],
          clusterLabels: ['region'],
        },
      });
      void (async () => {
        for await (const event of berth.events) events.push(event);
      })();
      await berth.whenReady();
    };

    beforeAll(async () => {
      const hub = await startEmbeddedHub();
      for (const name of ['web', 'db']) place(name, ['c1', 'c2']);
      place('shop', ['c1'], 'argocd');
      world = await GeneratorWorld.start(hub);
      await allowPages(world);
      await world.connect('berth');
      await world.connect('pages', PAGES_DATA);
      await world.stopBerth();
      await serve();
      await world.applicationSet('web', [plugin('web')], WITHOUT_FINALIZER);
      await world.applicationSet('db', [plugin('db')], WITHOUT_FINALIZER);
      await world.applicationSet('shop', [pages('shop')], WITHOUT_FINALIZER);
      const nested = { matrix: { generators: [plugin('web'), { list: { elements: [{ stage: 'test' }] } }] } };
      await world.applicationSet('nested', [nested], WITHOUT_FINALIZER);
      for (const set of ['web', 'db', 'nested']) await generates(set, ['c1', 'c2']);
      await generates('shop', ['c1']);
      await settled();
    });
    afterAll(async () => {
      await world?.close();
      git.remove();
    });

    it('follow a commit that moves a decision, and no others are touched', async () => {
      const [other, from] = [await refreshedFor('db'), events.length];
      place('web', ['c1', 'c2', 'c3']);
      for (const set of ['web', 'nested']) await generates(set, ['c1', 'c2', 'c3']);
      await settled();
      const refreshed = events
        .slice(from)
        .flatMap((event) =>
          event.kind === 'application-set-refreshed' ? [`${event.applicationSet} ${event.outcome}`] : [],
        );
      await until(async () => expect(await refreshedFor('db')).toBe(other));
      expect(refreshed.filter((text) => text.endsWith('requested')).sort()).toEqual([
        'argocd/nested requested',
        'argocd/web requested',
      ]);
    });

    it('that list PlacementDecisions follow as well', async () => {
      place('shop', ['c1', 'c4'], 'argocd');
      await generates('shop', ['c1', 'c4']);
      place('shop', ['c4'], 'argocd');
      await generates('shop', ['c4']);
    });

    it('learn after a restart of what changed meanwhile', async () => {
      await settled();
      await world.stopBerth();
      git.commit({ 'team-a-db.yaml': yaml(placement('db', selecting(['c1', 'c2', 'c4']))) });
      await serve();
      await generates('db', ['c1', 'c2', 'c4']);
    });

    it('generate for a cluster that a GitOpsCluster registered, which stays while an Application needs it', async () => {
      const registered = () => world.api.get(SECRET, { namespace: 'argocd', name: 'c5-secret' });
      const labels = { region: 'eu', name: 'c5' };
      await world.create(MANAGED_CLUSTER, cluster('c5', { labels }));
      place('fleet', ['c5'], 'argocd');
      await world.create(GITOPS_CLUSTER, {
        apiVersion: 'apps.open-cluster-management.io/v1beta1',
        kind: 'GitOpsCluster',
        metadata: { name: 'fleet', namespace: 'argocd' },
        spec: {
          argoServer: { argoNamespace: 'argocd' },
          placementRef: { kind: 'Placement', name: 'fleet' },
          createBlankClusterSecrets: true,
        },
      });
      await until(async () => expect((await registered())?.metadata.labels).toMatchObject({ region: 'eu' }));
      place('web', ['c1', 'c2', 'c3', 'c5']);
      await generates('web', ['c1', 'c2', 'c3', 'c5']);
      git.commit({
        'argocd-fleet.yaml': yaml(
          placement('fleet', selecting([]), { 'berth.dev/removal-budget': '100%' }, 'argocd'),
        ),
      });
      berth.reconcile();
      const code = await world.heldCode('fleet', 'argocd');
      const release = { 'berth.dev/removal-budget': '100%', 'berth.dev/release': code };
      git.commit({ 'argocd-fleet.yaml': yaml(placement('fleet', selecting([]), release, 'argocd')) });
      berth.reconcile();
      await until(async () => expect(await world.published('fleet', 'argocd')).toEqual([]));
      const waits = (): boolean => events.some(({ kind: what }) => what === 'published');
      expect(waits()).toBe(true);
      await until(async () => {
        const status = (await world.api.get(GITOPS_CLUSTER, { namespace: 'argocd', name: 'fleet' }))?.[
          'status'
        ];
        expect(JSON.stringify(status)).toContain('Applications use it: argocd/nested-c5, argocd/web-c5');
      });
      expect(await registered()).toBeDefined();
      place('web', ['c1', 'c2', 'c3']);
      await generates('web', ['c1', 'c2', 'c3']);
      await until(async () => expect(await registered()).toBeUndefined());
    });

    it('lose no Application in all of this that a decision wants', async () => {
      const { items } = await world.api.list(PLACEMENT_DECISION, { namespace: 'team-a' });
      expect(items.length).toBe(2);
      await generates('web', ['c1', 'c2', 'c3']);
      await generates('nested', ['c1', 'c2', 'c3']);
    });
  },
);
