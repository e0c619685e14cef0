import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HubWorld, withHub } from '@berth/addon/testing';
import { startMembers } from '@berth/agent/simulation/start-members';
import { createIfAbsent } from '@berth/kube/create-if-absent';
import {
  CERTIFICATE_REQUEST,
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  DEPLOYMENT,
  LEASE,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  NAMESPACE,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { namespacedName } from '@berth/kube/model/object-ref';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../peers/free-port.ts';
import { type PeerProcess, startPeer } from '../peers/peer-process.ts';
import { startOcmConversion } from '../peers/ocm-webhook.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { RealHub } from '../peers/real-hub.ts';
import { HUB_NAMESPACE, managedAddon } from './addon-objects.ts';

const CLUSTER = 'cluster1';
const AGENTS = 'open-cluster-management-agent-addon';
const CONFIGURATIONS = [
  { group: 'addon.open-cluster-management.io', resource: 'addondeploymentconfigs' },
  { group: '', resource: 'configmaps' },
];

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'berth-framework-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** OCM's add-on manager and the manager of an example of the framework, on an embedded hub whose clusters have our agent. */
async function startManagers(
  { hub, kubeconfigs }: Pick<HubWorld, 'hub' | 'kubeconfigs'>,
  example: string,
  name: string,
): Promise<PeerProcess> {
  const dir = folder();
  for (const one of [HUB_NAMESPACE, 'open-cluster-management'])
    await createIfAbsent(hub, NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: one } });
  await hub.create(CLUSTER_MANAGEMENT_ADDON, {
    ...{ apiVersion: 'addon.open-cluster-management.io/v1alpha1', kind: 'ClusterManagementAddOn' },
    metadata: { name },
    spec: { addOnMeta: { displayName: name }, supportedConfigs: CONFIGURATIONS },
  });
  const env = { POD_NAME: 'test', POD_NAMESPACE: HUB_NAMESPACE };
  const kubeconfig = `--kubeconfig=${kubeconfigs.hub}`;
  const manager = startPeer('ocm/addon', {
    args: [
      ...['manager', kubeconfig, `--namespace=${HUB_NAMESPACE}`, '--disable-leader-election'],
      `--listen=127.0.0.1:${await freePort()}`,
    ],
    ...{ env, logFile: join(dir, 'addon-manager.log') },
  });
  const own = startPeer(example, {
    args: ['controller', kubeconfig],
    ...{ env: { ...env, EXAMPLE_IMAGE_NAME: 'example.com/hello:1' }, logFile: join(dir, 'example.log') },
  });
  onTestFinished(async () => {
    await manager.stop();
    await own.stop();
  });
  return own;
}

/** It is deployed, registered and available, as the framework's managers say it. */
const HEALTHY: readonly string[] = [
  ...['Available True ProbeAvailable', 'ClusterCertificateRotated True ClientCertificateUpdated'],
  ...['ManifestApplied True AddonManifestApplied', 'RegistrationApplied True SetPermissionApplied'],
];

/** @throws Error that says which conditions the add-on has, and which it lacks */
async function hasConditions(hub: KubeApi, name: string, wanted = HEALTHY): Promise<boolean> {
  const found = await hub.get(MANAGED_CLUSTER_ADDON, { namespace: CLUSTER, name });
  const { conditions = [] } = (found?.['status'] ?? {}) as {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
    }[];
  };
  const said = conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
  const missing = wanted.filter((one) => !said.includes(one));
  if (missing.length > 0) throw new Error(`${missing.join()} not in ${said.join()}`);
  return true;
}

const filesOf = async (cluster: KubeApi, name: string): Promise<Readonly<Record<string, string>>> =>
  ((await cluster.get(SECRET, { namespace: AGENTS, name }))?.['data'] ?? {}) as Readonly<
    Record<string, string>
  >;

const SETUP = { patienceMs: OUTAGE_PATIENCE_MS, clusters: [CLUSTER, 'host'] };

type World = Pick<HubWorld, 'hub' | 'cluster' | 'clusters' | 'kubeconfigs' | 'waitFor'>;

/** Installed, registered, deployed, available, used by the framework's own agent, and removed. */
async function helloworldStory(world: World): Promise<void> {
  const { hub, cluster, waitFor, kubeconfigs } = world;
  const manager = await startManagers(world, 'addons/helloworld', 'helloworld');
  await hub.create(MANAGED_CLUSTER_ADDON, managedAddon(CLUSTER, 'helloworld'));
  await waitFor(async () => (await filesOf(cluster, 'helloworld-hub-kubeconfig'))['tls.crt']);
  const { items: requests } = await hub.list(CERTIFICATE_REQUEST);
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    metadata: { name: expect.stringMatching(/^addon-cluster1-helloworld-/) },
    status: { conditions: [{ type: 'Approved', reason: 'AutoApprovedByHubCSRApprovingController' }] },
  });
  await waitFor(() => hasConditions(hub, 'helloworld'));
  expect(
    (await hub.list(MANIFEST_WORK, { namespace: CLUSTER })).items.map(({ metadata }) => metadata.name),
  ).toEqual(['addon-helloworld-deploy-0']);
  expect((await cluster.list(DEPLOYMENT)).items).toHaveLength(1);

  // The framework's agent, with the access that ours made. It listens where its manager does.
  await manager.stop();
  const mounted = folder();
  for (const [file, text] of Object.entries(await filesOf(cluster, 'helloworld-hub-kubeconfig')))
    writeFileSync(join(mounted, file), Buffer.from(text, 'base64'), { mode: 0o600 });
  const agent = startPeer('addons/helloworld', {
    args: [
      ...['agent', `--kubeconfig=${kubeconfigs.clusters.get(CLUSTER) ?? ''}`],
      ...[`--hub-kubeconfig=${join(mounted, 'kubeconfig')}`, `--cluster-name=${CLUSTER}`],
      ...[`--addon-namespace=${AGENTS}`],
    ],
    logFile: join(mounted, 'agent.log'),
    env: { POD_NAME: 'test', POD_NAMESPACE: AGENTS },
  });
  onTestFinished(() => agent.stop());
  await hub.create(CONFIG_MAP, {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { sky: 'blue' } },
    metadata: { namespace: CLUSTER, name: 'colours' },
  });
  await waitFor(async () =>
    (await cluster.list(CONFIG_MAP)).items.some(({ metadata }) => metadata.name === 'colours'),
  );
  await waitFor(() => cluster.get(LEASE, { namespace: AGENTS, name: 'helloworld' }));

  await hub.delete(MANAGED_CLUSTER_ADDON, { namespace: CLUSTER, name: 'helloworld' });
  await waitFor(async () => (await hub.list(MANIFEST_WORK, { namespace: CLUSTER })).items.length === 0);
  await waitFor(async () => Object.keys(await filesOf(cluster, 'helloworld-hub-kubeconfig')).length === 0);
}

/** From a chart, with a job that runs before it goes. */
async function helmStory(world: World): Promise<void> {
  const { hub, cluster, waitFor } = world;
  await startManagers(world, 'addons/helloworld_helm', 'helloworldhelm');
  const key = { namespace: CLUSTER, name: 'helloworldhelm' };
  await hub.create(MANAGED_CLUSTER_ADDON, managedAddon(CLUSTER, 'helloworldhelm'));
  await waitFor(() => hasConditions(hub, 'helloworldhelm'));
  expect(Object.keys(await filesOf(cluster, 'helloworldhelm-hub-kubeconfig'))).toContain('tls.crt');
  expect(await hub.get(MANAGED_CLUSTER_ADDON, key)).toMatchObject({
    metadata: { finalizers: ['addon.open-cluster-management.io/addon-pre-delete'] },
  });
  await hub.delete(MANAGED_CLUSTER_ADDON, key);
  await waitFor(async () => (await hub.get(MANAGED_CLUSTER_ADDON, key)) === undefined);
  await waitFor(async () => (await hub.list(MANIFEST_WORK, { namespace: CLUSTER })).items.length === 0);
}

/** Its agent runs on another cluster. */
async function hostedStory(world: World): Promise<void> {
  const { hub, clusters, waitFor } = world;
  await startManagers(world, 'addons/helloworld_hosted', 'helloworldhosted');
  const annotations = { 'addon.open-cluster-management.io/hosting-cluster-name': 'host' };
  const addon = managedAddon(CLUSTER, 'helloworldhosted');
  await hub.create(MANAGED_CLUSTER_ADDON, { ...addon, metadata: { ...addon.metadata, annotations } });
  const deployments = async (name: string) => (await clusters.get(name)?.list(DEPLOYMENT))?.items ?? [];
  const works = async () =>
    (await hub.list(MANIFEST_WORK)).items.map(({ metadata }) => namespacedName(metadata));
  await waitFor(() =>
    hasConditions(hub, 'helloworldhosted', [
      ...[
        'HostingClusterValidity True HostingClusterValid',
        'HostingManifestApplied True AddonManifestApplied',
      ],
      ...['ManifestApplied True AddonManifestApplied', 'RegistrationApplied True SetPermissionApplied'],
    ]),
  );
  expect((await works()).sort()).toEqual([
    'cluster1/addon-helloworldhosted-deploy-0',
    'host/addon-helloworldhosted-deploy-hosting-cluster1-0',
  ]);
  expect(await deployments('host')).toMatchObject([{ metadata: { name: 'helloworldhosted-agent' } }]);
  expect(await deployments(CLUSTER)).toEqual([]);
  await hub.delete(MANAGED_CLUSTER_ADDON, addon.metadata);
  await waitFor(async () => (await hub.get(MANAGED_CLUSTER_ADDON, addon.metadata)) === undefined);
  await waitFor(async () => (await works()).length === 0);
  await waitFor(async () => (await deployments('host')).length === 0);
}

/** A kube-apiserver that converts the add-on API by OCM's webhook, as the hub of the cluster in memory, with our agent between them. */
async function startRealHub({ kubeconfigs }: HubWorld): Promise<Pick<World, 'hub' | 'kubeconfigs'>> {
  const dir = folder();
  const pair = createAuthority('agents', Date.now());
  writeFileSync(join(dir, 'ca.crt'), pair.certPem);
  writeFileSync(join(dir, 'ca.key'), pair.keyPem, { mode: 0o600 });
  const real = await RealHub.start([`--client-ca-file=${join(dir, 'ca.crt')}`]);
  const kubeconfig = real.plane.kubeconfig;
  const controllers = startPeer('kube-controller-manager', {
    args: [
      ...[`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0'],
      '--controllers=certificatesigningrequest-signing-controller,garbagecollector',
      ...[
        `--cluster-signing-cert-file=${join(dir, 'ca.crt')}`,
        `--cluster-signing-key-file=${join(dir, 'ca.key')}`,
      ],
    ],
    logFile: join(dir, 'controllers.log'),
  });
  const conversion = await startOcmConversion(real.plane);
  const members = await startMembers({
    hub: {
      adminKubeconfigPath: kubeconfig,
      memberKubeconfigPath: (name) => kubeconfigs.clusters.get(name) ?? '',
    },
    ...{
      names: [CLUSTER, 'host'],
      agents: true,
      clock: systemClock,
      log: new SilentLogger(),
      readyAfterMs: 0,
    },
  });
  onTestFinished(async () => {
    await members.close();
    await conversion();
    await controllers.stop();
    await real.close();
  });
  return { hub: real.api, kubeconfigs: { ...kubeconfigs, hub: kubeconfig } };
}

describe.each([
  { example: 'helloworld', story: helloworldStory },
  { example: 'helloworld_helm', story: helmStory },
  { example: 'helloworld_hosted', story: hostedStory },
])('the add-on framework’s example $example with our agent', ({ example, story }) => {
  const needed = ['ocm/addon', `addons/${example}`];
  it.skipIf(!hasPeers(...needed))('on the embedded hub', async () => {
    await withHub(story, SETUP);
  });

  it.skipIf(!hasPeers(...needed, 'kube-apiserver', 'etcd', 'kube-controller-manager'))(
    'on kube-apiserver with OCM’s conversion of the add-on API',
    async () => {
      await withHub(async (world) => story({ ...world, ...(await startRealHub(world)) }), SETUP);
    },
  );
});
