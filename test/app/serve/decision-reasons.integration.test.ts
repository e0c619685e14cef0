import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateApplications } from '@berth/applicationset/generate-applications';
import { PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { planInputs } from '../../../src/app/generator-inputs/plan-inputs.ts';
import { readHubSnapshot } from '../../../src/controllers/explanations/offline-snapshot.ts';
import { readAnnouncedSettings } from '../../../src/controllers/leadership/announced-settings.ts';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { baseFiles, cluster, placement, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

/** Each Application says why its cluster was selected. */
const SHOP = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'ApplicationSet',
  metadata: { name: 'shop', namespace: 'team-a' },
  spec: {
    generators: [
      {
        clusterDecisionResource: {
          configMapRef: 'berth-placement-decisions',
          labelSelector: { matchLabels: { 'cluster.open-cluster-management.io/placement': 'web' } },
        },
      },
    ],
    template: {
      metadata: { name: 'shop-{{name}}', annotations: { because: '{{reason}}' } },
      spec: {
        project: 'default',
        source: { repoURL: 'https://git.example/apps.git', targetRevision: 'v1', path: 'shop' },
        destination: { name: '{{name}}', namespace: 'shop' },
      },
    },
  },
};

const web = (numberOfClusters: number, scoreRateLimit = '1m') =>
  yaml(
    placement('web', {
      numberOfClusters,
      scoreRateLimit,
      tolerations: [{ key: 'repair', operator: 'Exists' }],
    }),
  );
/** c1 and c2, of which the first has a taint. */
const clusters = (...taints: object[]) => yaml(cluster('c1', { taints }), cluster('c2'));
const REPAIR = { key: 'repair', effect: 'NoSelect' };
const [BEST, TOO_FEW] = [
  'one of the best 2 matching clusters',
  'matches; fewer clusters match than are wanted',
];

describe('reasons on the pages of a decision', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, 'clusters.yaml': clusters(), 'web.yaml': web(2) });
  });
  afterEach(() => fleet.close());

  const page = async (): Promise<PlacementDecision> => {
    const { items } = await fleet.hub.api.list(PLACEMENT_DECISION, { namespace: 'team-a' });
    return items[0] as unknown as PlacementDecision;
  };
  const reasons = async () => (await page()).status?.decisions?.map(({ reason }) => reason);
  const serve = (over: object = {}) =>
    fleet.serve({
      sources: [{ url: fleet.git.path, ref: { type: 'branch', name: 'main' } }],
      announcement: { name: 'berth-controller-test', identity: 'test' },
      ...over,
    });

  it('are empty, as those of OCM, unless the controller is set to write them', async () => {
    await serve();
    await fleet.published('web');
    expect(await reasons()).toEqual(['', '']);
  });

  it('are written for themselves at most as often as scores, and not by a restart', async () => {
    await serve({ decisionReasons: true });
    await fleet.published('web');
    expect(await reasons()).toEqual([BEST, BEST]);
    const seen = fleet.events.length;
    fleet.git.commit({ 'clusters.yaml': clusters(REPAIR) });
    await fleet.event('synced', ({ applied }) => applied === 1, seen);
    await fleet.advance(30_000);
    expect(await reasons()).toEqual([BEST, BEST]);
    await fleet.advance(40_000);
    await expect.poll(reasons).toEqual([`${BEST}; tolerates repair`, BEST]);
    const { metadata } = await page();
    await fleet.stop();
    const running = await serve({ decisionReasons: true });
    await running.whenReady();
    await fleet.advance(70_000);
    expect((await page()).metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  it('are in the Applications of a plan as Argo CD will make them', async () => {
    fleet.git.commit({ 'web.yaml': web(2, '1s'), 'shop.yaml': yaml(SHOP) });
    await serve({ decisionReasons: true });
    await fleet.published('web');
    await expect.poll(async () => (await readAnnouncedSettings(fleet.hub.api)).length).toBe(1);
    fleet.git.run('checkout', '-q', '-b', 'change');
    fleet.git.commit({ 'clusters.yaml': clusters(REPAIR), 'web.yaml': web(3, '1s') });
    const { stdout } = await fleet.berth(
      ...['plan', '--base', 'main', '--head', 'change', '-o', 'json', '--argocd-namespace', 'team-a'],
      ...['--kubeconfig', fleet.hub.kubeconfig],
    );
    const { applications, placements } = JSON.parse(stdout) as Plan;
    expect(placements.flatMap(({ added, removed }) => [...added, ...removed])).toEqual([]);
    const said = applications.flatMap((set) => set.applications.flatMap(({ fields }) => fields));
    expect(JSON.stringify(said)).toContain(`${TOO_FEW}; tolerates repair`);
    fleet.git.merge('change');
    await expect.poll(reasons).toEqual([`${TOO_FEW}; tolerates repair`, TOO_FEW]);
    const snapshot = await readHubSnapshot(fleet.hub.api, '2026-01-01T00:00:00Z');
    const made = generateApplications(SHOP, planInputs('team-a', snapshot, []));
    const annotations = 'error' in made ? [] : made.applications.map(({ metadata }) => metadata);
    expect(annotations).toMatchObject([
      { name: 'shop-c1', annotations: { because: `${TOO_FEW}; tolerates repair` } },
      { name: 'shop-c2', annotations: { because: TOO_FEW } },
    ]);
  });
});
