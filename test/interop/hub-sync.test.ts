import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import type { HubSyncOptions } from '../../src/controllers/sources/following/hub-sync-options.ts';
import { SourceDeclarations } from '../../src/controllers/sources/progress/source-declarations.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { MANAGED_CLUSTER, PLACEMENT } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { appliedKinds } from '../../src/core/sync/applied/applied-kinds.ts';
import { REFUSED_APPLIES, refusalStatus } from '../conformance/hub/refused-applies.ts';
import { conflictsOverFields } from '../controllers/sources/following/field-conflict-scenarios.ts';
import { namespacesThatComeLater } from '../controllers/sources/following/late-namespace-scenarios.ts';
import { objectsThatStay } from '../controllers/sources/following/withdrawal-scenarios.ts';
import { hubSyncFor } from '../controllers/sources/following/hub-sync-fixture.ts';
import { createCrds } from './create-crds.ts';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import type { ControlPlane } from './peers/control-plane.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { OCM_WEBHOOK_PROGRAM, startOcmWebhook } from './peers/ocm-webhook.ts';
import { hasPeers } from './peers/peer-programs.ts';

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))('Git to a real hub', () => {
  let hub: ControlPlane;
  let api: HttpKubeApi;
  beforeAll(async () => {
    hub = await startControlPlane();
    await createCrds(hub.client, ocmCrds());
    api = new HttpKubeApi({ config: loadKubeConfig({ file: hub.kubeconfig }), clock: systemClock });
  });
  afterAll(async () => {
    api?.close();
    await hub?.stop();
  });

  const syncOf = (source: string, more: Partial<HubSyncOptions> = {}) =>
    hubSyncFor({
      api,
      source,
      declarations: new SourceDeclarations(systemClock, [{ name: source, force: false }]),
      ...more,
    });
  const inGit = (...objects: KubeObject[]) => ({
    complete: true,
    objects: objects.map((object) => ({ object, location: { file: 'a.yaml', line: 1, column: 1 } })),
  });
  const placement = (name: string, spec: object): KubeObject => ({
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'Placement',
    metadata: { name, namespace: 'default' },
    spec,
  });

  it.each(REFUSED_APPLIES)('refuses an apply as it is recorded: $name', async (refused) => {
    const { path, body } = refused;
    const answer = await hub.client.call(
      'PATCH',
      `${path}?fieldManager=t`,
      body,
      'application/apply-patch+yaml',
    );
    expect([answer.status, answer.body]).toEqual([500, refusalStatus(refused)]);
  });

  it('an unknown field is reported at its object, permanently, and delays nothing', async () => {
    const { applied, problems } = await syncOf('mistyped').sync(
      inGit(placement('mistyped', { numberOfCluster: 1 }), placement('fine', { clusterSets: ['global'] })),
    );
    expect(applied).toBe(1);
    expect(problems).toEqual([
      expect.objectContaining({ object: 'Placement default/mistyped', retry: false, isCommitPartial: false }),
    ]);
    expect(problems[0]?.message).toContain('.spec.numberOfCluster: field not declared in schema');
    expect(await api.get(PLACEMENT, { namespace: 'default', name: 'fine' })).toBeDefined();
  });

  it('manifests of a work never become objects of the hub, and what was applied before stays', async () => {
    const configMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'left', namespace: 'default' },
    };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'web', image: 'web' }] },
        },
      },
    };
    const before = syncOf('kinds', { isApplied: appliedKinds(['/ConfigMap']) });
    const fine = placement('kept', { clusterSets: ['global'] });
    expect(await before.sync(inGit(fine, configMap))).toMatchObject({ applied: 2, problems: [] });
    const sync = syncOf('kinds', { isApplied: appliedKinds() });
    expect(await sync.sync(inGit(fine, configMap, deployment))).toMatchObject({
      applied: 0,
      pruned: 0,
      problems: [],
    });
    const { client } = hub;
    expect((await client.call('GET', '/apis/apps/v1/namespaces/default/deployments/web')).status).toBe(404);
    expect((await client.call('GET', '/api/v1/namespaces/default/configmaps/left')).status).toBe(200);
  });

  describe('objects of namespaces that come later', () => {
    beforeAll(async () => {
      const body = { metadata: { name: 'berth-system' } };
      await hub.client.call('POST', '/api/v1/namespaces', body);
    });
    namespacesThatComeLater(() => api);
  });

  describe('conflicts over fields', () => conflictsOverFields(() => api));
  describe('objects that leave Git and stay', () => objectsThatStay(() => api));

  describe.skipIf(!hasPeers(OCM_WEBHOOK_PROGRAM))('with OCM’s webhook', () => {
    let stop: () => Promise<void>;
    beforeAll(async () => {
      stop = await startOcmWebhook(hub);
    });
    afterAll(() => stop?.());

    const cluster = (labels: Record<string, string>, ...keys: string[]): KubeObject => ({
      apiVersion: 'cluster.open-cluster-management.io/v1',
      kind: 'ManagedCluster',
      metadata: { name: 'tainted', labels },
      spec: { hubAcceptsClient: true, taints: keys.map((key) => ({ key, effect: 'NoSelect' })) },
    });
    const live = async (): Promise<ManagedCluster> =>
      (await api.get(MANAGED_CLUSTER, { namespace: '', name: 'tainted' })) as unknown as ManagedCluster;
    const taints = async () => (await live()).spec?.taints ?? [];

    it('a cluster that Git tainted can be changed, and taints of registration are no conflict', async () => {
      const sync = syncOf('taints');
      expect((await sync.sync(inGit(cluster({}, 'drain')))).problems).toEqual([]);
      const [drained] = await taints();
      expect(drained?.timeAdded).toBeDefined();
      expect(
        (await sync.sync(inGit(cluster({ region: 'eu' }, 'drain')), { compare: false })).problems,
      ).toEqual([]);

      const unreachable = { key: 'cluster.open-cluster-management.io/unreachable', effect: 'NoSelect' };
      await api.mergePatch(
        MANAGED_CLUSTER,
        { namespace: '', name: 'tainted' },
        { spec: { taints: [drained, unreachable] } },
        { fieldManager: 'registration' },
      );
      expect(await sync.sync(inGit(cluster({ region: 'eu' }, 'drain')))).toMatchObject({
        applied: 0,
        problems: [],
      });
      expect(await sync.sync(inGit(cluster({ region: 'eu' }, 'drain', 'other')))).toMatchObject({
        applied: 1,
        problems: [],
      });
      expect(await taints()).toEqual([
        drained,
        expect.objectContaining(unreachable),
        expect.objectContaining({ key: 'other' }),
      ]);
      expect((await sync.sync(inGit(cluster({ region: 'us' })), { compare: false })).problems).toEqual([]);
      expect(await taints()).toEqual([expect.objectContaining(unreachable)]);
      expect(await sync.sync(inGit(cluster({ region: 'us' })))).toMatchObject({ applied: 0, problems: [] });
    });
  });
});
