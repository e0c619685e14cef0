import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { APPLICATION, APPLICATION_SET, GITOPS_CLUSTERS } from '../../../src/core/argocd/argocd-kinds.ts';
import { CONFIG_MAP, kind, type KindInfo, NAMESPACE, SECRET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ControllerDuties } from '../../../src/core/rbac/controller-rbac.ts';
import { crd, PAGES_CONFIG, pluginSet, resourceSet } from '../../controllers/argocd/argocd-objects.ts';
import { headersOf } from './dashboard/argocd-fleet.ts';
import { askDashboard } from './dashboard/dashboard-client.ts';
import { baseFiles, binding, namespace, placement, yaml } from './fleet-fixture.ts';
import { printedRights, restrictedClient } from './restricted-controller.ts';
import { ServedFleet } from './served-fleet.ts';

const CRD = kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'Cluster');
const [GITOPS_CLUSTER] = GITOPS_CLUSTERS as readonly [KindInfo];
const ARGOCD = {
  ...{ namespace: 'argocd', refresh: true, waves: true, clusterSecrets: true, pull: false },
  extension: true,
};
const DUTIES: ControllerDuties = {
  applies: true,
  schedule: 'berth',
  works: false,
  embedded: true,
  secrets: [],
};
const NAME = 'argocd';
const APPS = 'apps.open-cluster-management.io';
const REFRESH = 'argocd.argoproj.io/application-set-refresh';

let fleet: ServedFleet;
let restricted: Awaited<ReturnType<typeof restrictedClient>> | undefined;
beforeEach(async () => {
  fleet = await ServedFleet.create();
  const make = (of: KindInfo, object: object) => fleet.hub.api.create(of, object as KubeObject);
  await make(CRD, crd('argoproj.io', 'Application'));
  await make(CRD, crd('argoproj.io', 'ApplicationSet'));
  await make(CRD, crd('argoproj.io', 'AppProject'));
  await make(CRD, crd('authentication.open-cluster-management.io', 'ManagedServiceAccount', ['v1beta1']));
  for (const name of [NAME, 'c1', 'c2', 'c3']) await make(NAMESPACE, namespace(name));
  await make(CONFIG_MAP, PAGES_CONFIG);
  await make(APPLICATION_SET, pluginSet('web', 'team-a/web'));
  await make(APPLICATION_SET, pluginSet('rolling', 'team-a/web', { waves: '2', soak: '1h' }));
  await make(APPLICATION_SET, resourceSet('pages', 'fleet'));
  const spec = { argoServer: { argoNamespace: NAME }, placementRef: { name: 'fleet' } };
  await make(GITOPS_CLUSTER, {
    apiVersion: `${APPS}/v1beta1`,
    kind: 'GitOpsCluster',
    metadata: { name: 'fleet', namespace: NAME },
    spec,
  });
  for (const name of ['c1', 'c2', 'c3'])
    await make(SECRET, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${name}-cluster-secret`, namespace: name },
      stringData: { server: `https://${name}`, config: '{}' },
    });
});
afterEach(async () => {
  await fleet.close();
  restricted?.close();
});

/** What the ApplicationSet controller does when it has generated. */
async function answer(name: string): Promise<void> {
  const key = { namespace: NAME, name };
  await fleet.until(async () => {
    const set = await fleet.hub.api.get(APPLICATION_SET, key);
    return set?.metadata.annotations?.[REFRESH];
  });
  await fleet.hub.api.mergePatch(APPLICATION_SET, key, { metadata: { annotations: { [REFRESH]: null } } });
}

const registered = async (): Promise<string> => {
  const { items } = await fleet.hub.api.list(SECRET, { namespace: NAME });
  return items.map(({ metadata }) => metadata.name).join(' ');
};

describe('berth serve for Argo CD', () => {
  it('does with the printed rights what the flags say, and needs all of them', async () => {
    const duties = { ...DUTIES, argocd: ARGOCD };
    restricted = await restrictedClient(fleet, duties);
    const { api } = restricted;
    const select = (count: number) =>
      yaml(
        placement('web', { numberOfClusters: count }),
        placement('fleet', { numberOfClusters: count }, {}, NAME),
      );
    fleet.git.commit({ ...baseFiles, 'argocd.yaml': yaml(binding(NAME)), 'web.yaml': select(3) });
    const argocd = { ...ARGOCD, pluginConfigMaps: ['berth'], clusterLabels: ['region'] };
    const running = await fleet.serve({ api, works: false, argocd, http: fleet.http() });
    for (const name of ['web', 'pages']) await answer(name);
    await fleet.event('application-set-refreshed', (event) => event.outcome === 'confirmed');
    await fleet.until(async () => ((await registered()).split(' ').length === 3 ? true : undefined));
    await fleet.event('application-set-waves', ({ served }) => served.length === 3);
    const labels = { 'apps.open-cluster-management.io/cluster-name': 'edited' };
    const first = (await registered()).split(' ')[0] ?? '';
    await fleet.hub.api.mergePatch(SECRET, { namespace: NAME, name: first }, { metadata: { labels } });
    await fleet.event('cluster-secret-written', ({ action }) => action === 'updated');

    const set = await fleet.hub.api.get(APPLICATION_SET, { namespace: NAME, name: 'web' });
    const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'web' };
    await fleet.hub.api.create(APPLICATION, {
      ...{ ...owner, kind: 'Application' },
      metadata: {
        namespace: NAME,
        name: 'web-1',
        ownerReferences: [{ ...owner, uid: set?.metadata.uid ?? '' }],
      },
      spec: { project: 'shop', destination: { name: (await fleet.decisions('web'))[0] } },
    });
    const asked = { headers: headersOf('argocd:web-1'), token: 'a-token-of-this-test' };
    const { json } = await askDashboard(running.url, '/argocd/application', asked);
    expect(json.places).toMatchObject([{ name: 'web', selected: true }]);

    fleet.git.commit({ 'web.yaml': select(2) });
    running.reconcile();
    const from = fleet.events.length;
    await fleet.event('cluster-secret-written', ({ action }) => action === 'deleted');
    for (const name of ['web', 'pages']) await answer(name);
    await fleet.event('application-set-refreshed', (event) => event.outcome === 'confirmed', from);

    expect([...api.refused]).toEqual([]);
    const without = printedRights(DUTIES);
    const forArgo = [...printedRights(duties)].filter((right) => !without.has(right));
    expect(forArgo.length).toBeGreaterThan(10);
    expect(forArgo.filter((right) => !api.used.has(right))).toEqual([]);
  });

  it('leaves Argo CD alone without the flags', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    await fleet.serve();
    await fleet.published('web');
    await fleet.advance(10_000);
    expect(await registered()).toBe('');
    const set = await fleet.hub.api.get(APPLICATION_SET, { namespace: NAME, name: 'web' });
    expect(set?.metadata.annotations).toBeUndefined();
  });
});
