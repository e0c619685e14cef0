import { X509Certificate } from 'node:crypto';
import {
  ADDON_TEMPLATE,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  CONFIG_MAP,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
  ROLE_BINDING,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ADDON_DUTIES } from '../../../src/core/addon/addon-duties.ts';
import { DUTIES } from '../../../src/core/registration/duties.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { conditionsOf, filesOf, maySeeConfigMaps } from './addon-checks.ts';
import { READER_ROLE, signingAuthority, TEMPLATE_ADDON } from './addon-objects.ts';
import { type MatrixHub, startEmbeddedMatrixHub, startRealMatrixHub } from './matrix-hub.ts';
import { CLUSTER, MatrixWorld, PATIENT } from './matrix-world.ts';

const INSTALLED = 'open-cluster-management-agent-addon';
const SECRETS = ['hello-hub-kubeconfig', 'hello-example.com-agents-client-cert'] as const;
const PAGE = { namespace: 'default', name: 'p-decision-1' };
const COPY = { namespace: 'default', name: 'hello' };
const CONTROL_PLANE = ['etcd', 'kube-apiserver', 'kube-controller-manager'];
/** On the hub: what an owner takes with it, and a namespace. */
const COLLECTORS = ['garbage-collector-controller', 'namespace-controller'];

/** The add-on of a template, which a placement installs on the clusters that the test decides. */
async function makeAddOn(hub: KubeApi, ca: Awaited<ReturnType<typeof signingAuthority>>): Promise<void> {
  const { apiVersion, kind, metadata, spec } = TEMPLATE_ADDON[1];
  const placements = [{ namespace: 'default', name: 'p' }];
  await hub.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'berth-system' } });
  await hub.create(SECRET, ca.secret);
  await hub.create(CLUSTER_ROLE, READER_ROLE);
  await hub.create(ADDON_TEMPLATE, TEMPLATE_ADDON[0]);
  const group = 'cluster.open-cluster-management.io/v1beta1';
  await hub.create(PLACEMENT, {
    ...{ apiVersion: group, kind: 'Placement', metadata: { namespace: 'default', name: 'p' }, spec: {} },
  });
  await hub.create(PLACEMENT_DECISION, {
    ...{ apiVersion: group, kind: 'PlacementDecision' },
    metadata: { ...PAGE, labels: { [PLACEMENT_LABEL]: 'p' } },
  });
  await hub.create(CLUSTER_MANAGEMENT_ADDON, {
    ...{ apiVersion, kind, metadata },
    spec: { ...spec, installStrategy: { type: 'Placements', placements } },
  });
}

async function decide(hub: KubeApi, clusters: readonly string[]): Promise<void> {
  const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
  const options = { subresource: 'status', fieldManager: 'test' } as const;
  await hub.mergePatch(PLACEMENT_DECISION, PAGE, { status: { decisions } }, options);
}

/** What of the add-on is still somewhere. */
async function remainsOf({ hub: { api }, member }: MatrixWorld): Promise<readonly string[]> {
  const works = (await api.list(MANIFEST_WORK, { namespace: CLUSTER })).items;
  const bindings = (await api.list(ROLE_BINDING, { namespace: CLUSTER })).items;
  const key = { namespace: CLUSTER, name: 'hello' };
  const labels = (await api.get(MANAGED_CLUSTER, { namespace: '', name: CLUSTER }))?.metadata.labels ?? {};
  const kept = await Promise.all(SECRETS.map((name) => member.get(SECRET, { namespace: INSTALLED, name })));
  return [
    await api.get(MANAGED_CLUSTER_ADDON, key),
    ...works,
    ...bindings.filter(({ metadata }) => metadata.name.includes(':hello:')),
    ...kept,
    await member.get(CONFIG_MAP, COPY),
  ]
    .flatMap((object) => (object === undefined ? [] : [`${object.kind} ${object.metadata.name}`]))
    .concat(Object.keys(labels).filter((label) => label.endsWith('addon-hello')));
}

async function installsAndRemoves(startHub: () => Promise<MatrixHub>): Promise<void> {
  const matrixHub = await startHub();
  const world = await MatrixWorld.start(matrixHub, 'OCM');
  onTestFinished(() => world.close());
  const { api } = world.hub;
  await world.startControllers('ours', DUTIES, ADDON_DUTIES);
  await world.signForAnHour();
  await world.startAgent();
  await expect.poll(() => world.hub.requests(CLUSTER), PATIENT).toHaveLength(1);
  await world.accept();
  await expect.poll(() => world.available(), PATIENT).toBe('True');
  const authority = await signingAuthority();
  await makeAddOn(api, authority);
  await decide(api, [CLUSTER]);

  const files = (name: string) => filesOf(world.member, { namespace: INSTALLED, name });
  for (const name of SECRETS)
    await expect.poll(async () => Object.keys(await files(name)), PATIENT).toContain('tls.crt');
  const maySee = async () => maySeeConfigMaps(await files(SECRETS[0]), world.dir, ['default', CLUSTER]);
  await expect.poll(maySee, PATIENT).toEqual([false, true]);
  const signed = new X509Certificate((await files(SECRETS[1]))['tls.crt'] ?? '');
  expect(signed.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
  expect(signed.subject.split('\n').sort()).toEqual(['CN=hello-agent', 'O=agents', 'OU=unit-7']);
  await expect
    .poll(() => conditionsOf(api, CLUSTER, 'hello'), PATIENT)
    .toMatchObject({
      Available: 'True ProbeAvailable',
      ClusterCertificateRotated: 'True ClientCertificateUpdated',
      Configured: 'True ConfigurationsConfigured',
      ManifestApplied: 'True AddonManifestApplied',
      Progressing: 'False Completed',
      RegistrationApplied: 'True SetPermissionApplied',
    });
  const copy = async () => (await world.member.get(CONFIG_MAP, COPY))?.['data'];
  await expect.poll(copy, PATIENT).toEqual({ cluster: CLUSTER });

  await decide(api, []);
  await expect.poll(() => remainsOf(world), PATIENT).toEqual([]);
}

describe.skipIf(!hasPeers('ocm/registration', 'ocm/work'))('OCM’s agents with our manager of add-ons', () => {
  it('get an add-on that a placement installs, and lose it, on the embedded hub', () =>
    installsAndRemoves(startEmbeddedMatrixHub));

  it.skipIf(!hasPeers(...CONTROL_PLANE))('get it and lose it on kube-apiserver', () =>
    installsAndRemoves(() => startRealMatrixHub(COLLECTORS)),
  );
});
