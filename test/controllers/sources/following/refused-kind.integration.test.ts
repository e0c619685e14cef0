import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hubAdmission } from '../../../../src/controllers/admission/hub-admission.ts';
import { TransientError } from '@berth/runtime/errors';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { CONFIG_MAP, DEPLOYMENT, MANAGED_CLUSTER, kind, type KindInfo } from '@berth/kube/model/kinds';
import { baseFiles, cluster, placement, retired, yaml } from '../../../app/serve/fleet-fixture.ts';
import { restrictedClient } from '../../../app/serve/restricted-controller.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';
import { interceptedApi } from './intercepted-api.ts';

const RBAC = 'rbac.authorization.k8s.io';

const ROLE = kind(RBAC, 'v1', 'ClusterRole', 'Cluster');
const DUTIES = { applies: true, schedule: 'berth', works: false, embedded: false, secrets: [] } as const;
const GAUGE =
  'berth_source_unlisted_kinds{source="fleet",resource="deployments.apps",reason="kube.forbidden"}';

const deployment = (name: string, ns = 'team-a') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: ns },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image: 'registry.example.org/web:1' }] },
    },
  },
});
const clusters = (count: number) =>
  yaml(...Array.from({ length: count }, (_, index) => cluster(`c${index + 1}`)));

describe('a kind that Berth may not list', () => {
  let fleet: ServedFleet;
  let restricted: Awaited<ReturnType<typeof restrictedClient>>;
  beforeEach(async () => {
    fleet = await ServedFleet.create({ admission: hubAdmission() });
    restricted = await restrictedClient(fleet, DUTIES);
  });
  afterEach(async () => {
    await fleet.close();
    restricted.close();
  });

  const grant = (...verbs: string[]) =>
    fleet.hub.api.create(ROLE, {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'berth-deployments', labels: { 'berth.dev/aggregate-to-controller': 'true' } },
      rules: [{ apiGroups: ['apps'], resources: ['deployments'], verbs }],
    });
  const revoke = () => fleet.hub.api.delete(ROLE, { namespace: '', name: 'berth-deployments' });
  const names = async (kind: KindInfo) =>
    (await fleet.hub.api.list(kind)).items.map(({ metadata }) => metadata.name).sort();
  const parentSays = async (annotation: string) =>
    (await fleet.hub.api.get(CONFIG_MAP, { namespace: 'berth-system', name: 'berth-fleet' }))?.metadata
      .annotations?.[annotation];
  const parentKinds = () => parentSays('berth.dev/member-versions');
  const parentNamespaces = () => parentSays('applyset.kubernetes.io/additional-namespaces');

  it('is reported by name with the missing right, everything else goes on, and it recovers', async () => {
    fleet.git.commit({
      ...baseFiles,
      'apps.yaml': yaml(deployment('a'), deployment('b')),
      'web.yaml': yaml(placement('web')),
    });
    const options = { api: restricted.api, embedded: false, works: false };
    const { url } = await fleet.serve({ ...options, http: fleet.http() });
    const metrics = async () => (await fetch(`${url}/metrics`)).text();
    expect(await fleet.published('web')).toMatchObject({ clusters: { length: 6 } });
    expect(await fleet.event('sync-problem')).toMatchObject({
      source: 'fleet',
      object: 'kind deployments.apps',
      message: expect.stringMatching(
        /^the right to list deployments\.apps in all namespaces is missing \(berth serve --print-rbac prints it\); its objects \(2 in Git\)/,
      ) as string,
      location: 'apps.yaml:1:1',
    });
    expect((await fleet.status()).stdout).toContain(
      'apps.yaml:1:1: kind deployments.apps: the right to list',
    );
    expect(await metrics()).toContain(`${GAUGE} 1`);
    expect(await names(DEPLOYMENT)).toEqual([]);

    // What left Git of other kinds is deleted all the same.
    fleet.git.commit({ 'clusters.yaml': clusters(5) });
    await fleet.event('synced', ({ pruned }) => pruned === 1);
    expect(await names(MANAGED_CLUSTER)).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);
    expect(fleet.events.filter(({ kind }) => kind === 'sync-problem')).toHaveLength(1);

    await grant('list', 'create', 'patch', 'delete');
    await fleet.until(async () => ((await names(DEPLOYMENT)).length === 2 ? true : undefined));
    await fleet.until(async () => ((await metrics()).includes(GAUGE) ? undefined : true));
    await fleet.until(async () => ((await fleet.status()).code === 0 ? true : undefined));
  });

  it('keeps on the hub what left Git meanwhile, remembers it across a restart, and deletes it later', async () => {
    await grant('list', 'create', 'patch', 'delete');
    // In a namespace that nothing else of the source is in.
    const apps = yaml(deployment('a', 'default'), deployment('b', 'default'));
    fleet.git.commit({ ...baseFiles, 'apps.yaml': apps });
    // A cluster and two Deployments, one shortly after the other.
    const budget = { percent: 0, atLeast: 3 };
    const options = { api: restricted.api, embedded: false, budget };
    await fleet.serve(options);
    await fleet.until(async () => ((await names(DEPLOYMENT)).length === 2 ? true : undefined));
    await fleet.stop();

    await revoke();
    fleet.git.commit({ 'apps.yaml': undefined, 'clusters.yaml': clusters(5) });
    await fleet.serve(options);
    expect(await fleet.event('sync-problem')).toMatchObject({
      object: 'kind deployments.apps',
      message: expect.stringContaining('its remaining objects can neither be applied nor deleted') as string,
    });
    await fleet.until(async () => ((await names(MANAGED_CLUSTER)).length === 5 ? true : undefined));
    expect(await names(DEPLOYMENT)).toEqual(['a', 'b']);
    expect(await parentKinds()).toContain('apps/v1/Deployment');
    expect(await parentNamespaces()).toBe('default,team-a');
    await fleet.stop();

    await grant('list', 'delete');
    await fleet.serve(options);
    await fleet.event('synced', ({ pruned }) => pruned === 2);
    expect(await names(DEPLOYMENT)).toEqual([]);
    expect(await parentKinds()).not.toContain('Deployment');
    expect(await parentNamespaces()).toBe('team-a');
  });

  it('holds decisions up while the hub fails to list an input of them, as after its restore', async () => {
    let isBroken = false;
    const api = interceptedApi(fleet.hub.api, (method, [kind, options]) => {
      // Only the comparison of a source lists by the label of its set.
      if (!isBroken || method !== 'list' || (kind as KindInfo).plural !== 'managedclusters') return;
      if ((options as ListOptions | undefined)?.labelSelector === undefined) return;
      throw new TransientError('storage is (re)initializing', {
        code: 'kube.toomanyrequests',
        subject: 'GET',
      });
    });
    const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'team-a' } };
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')), 'a.yaml': yaml(settings) });
    await fleet.serve({ api, budget: { percent: 100, atLeast: 1 } });
    expect((await fleet.published('web')).clusters).toHaveLength(6);
    const seen = fleet.events.length;
    isBroken = true;
    // Something left Git, so that the whole source is compared.
    const web = yaml(placement('web', { numberOfClusters: 2 }));
    fleet.git.commit({ 'web.yaml': web, 'clusters.yaml': retired(5), 'a.yaml': undefined });
    await fleet.event('sync-problem', ({ object }) => object.startsWith('kind managedclusters'), seen);
    await fleet.until(async () =>
      (await fleet.read('web')).spec?.numberOfClusters === 2 ? true : undefined,
    );
    await fleet.advance(3_000);
    expect(fleet.events.slice(seen).filter(({ kind }) => kind === 'published' || kind === 'held')).toEqual(
      [],
    );
    isBroken = false;
    expect((await fleet.published('web', seen)).clusters).toEqual(['c6']);
  });

  it('stops nothing else either when the hub itself fails to list it', async () => {
    let broken = true;
    class BrokenConversion extends InterceptedKubeApi {
      protected override read<T>(request: () => Promise<T>, right: string): Promise<T> {
        if (broken && right === 'list deployments')
          throw new TransientError('conversion webhook failed', {
            code: 'kube.internalerror',
            subject: 'GET',
          });
        return request();
      }
      protected override write<T>(request: () => Promise<T>): Promise<T> {
        return request();
      }
      override async *watch(...args: Parameters<KubeApi['watch']>) {
        yield* this.inner.watch(...args);
      }
    }
    fleet.git.commit({
      ...baseFiles,
      'apps.yaml': yaml(deployment('a')),
      'web.yaml': yaml(placement('web')),
    });
    await fleet.serve({ api: new BrokenConversion(fleet.hub.api) });
    await fleet.published('web');
    expect(await fleet.event('sync-problem')).toMatchObject({
      object: 'kind deployments.apps',
      message: expect.stringMatching(
        /^deployments\.apps cannot be listed: .*conversion webhook failed/,
      ) as string,
    });
    expect(await names(DEPLOYMENT)).toEqual([]);
    broken = false;
    await fleet.until(async () => ((await names(DEPLOYMENT)).length === 1 ? true : undefined));
  });

  it('is no reason to believe a hub that answers for nothing', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    await fleet.serve({ api: restricted.api, embedded: false });
    await fleet.published('web');
    const seen = fleet.events.length;
    await fleet.hub.hub.close();
    fleet.git.commit({ 'clusters.yaml': clusters(5) });
    await fleet.event('error', ({ where }) => where === 'source fleet', seen);
    expect(fleet.events.slice(seen).some(({ kind }) => kind === 'sync-problem')).toBe(false);
  });
});
