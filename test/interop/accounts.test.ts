import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MANAGED_SERVICE_ACCOUNT, managedServiceAccounts } from '@berth/access/addon/managed-serviceaccount';
import { ClusterProfiles } from '@berth/access/server/cluster-profiles';
import { runAccountAgent } from '@berth/access/agent/run-account-agent';
import {
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET_BINDING,
  ROLE_BINDING,
  SECRET,
  SERVICE_ACCOUNT,
} from '@berth/kube/model/kinds';
import { reviewToken } from '@berth/kube/review-token';
import { secretTexts } from '@berth/kube/secret-texts';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import { systemClock as clock } from '@berth/runtime/clock/system-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asAccount, managedAccount } from '../../packages/access/test/account-world.ts';
import { runCli } from '../../src/app/cli/program.ts';
import { makeCliIo } from '../app/cli-harness.ts';
import { CONTROL_PLANE_PROGRAMS } from './peers/control-plane.ts';
import { freePort } from './peers/free-port.ts';
import { type PeerProcess, startPeer } from './peers/peer-process.ts';
import { hasPeers, peerProgram } from './peers/peer-programs.ts';
import { RealHub } from './peers/real-hub.ts';

const PROGRAMS = [...CONTROL_PLANE_PROGRAMS, 'kube-controller-manager', 'access/msa', 'access/cp-creds'];
const ADDON = 'managed-serviceaccount';
const ADDON_NAMESPACE = 'open-cluster-management-agent-addon';
const AGENT = { namespace: ADDON_NAMESPACE, name: 'managed-serviceaccount-agent' };
/** As whom the manager of OCM expects the agent. */
const USER = `system:open-cluster-management:cluster:cluster1:addon:${ADDON}:agent:addon-agent`;
const KEY = { namespace: 'cluster1', name: 'deployer' };

describe.skipIf(!hasPeers(...PROGRAMS))("Berth's agent of accounts, with OCM's manager", () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-accounts-'));
  const authority = createAuthority('test', Date.now());
  const stop = new AbortController();
  const log = new SilentLogger();
  let hub: RealHub;
  let manager: PeerProcess;
  let agent: Promise<void>;
  let closeCluster = (): void => undefined;

  beforeAll(async () => {
    const caFile = join(folder, 'ca.pem');
    writeFileSync(caFile, authority.certPem);
    hub = await RealHub.start([`--client-ca-file=${caFile}`]);
    for (const crd of ocmCrds(['authentication.open-cluster-management.io', 'multicluster.x-k8s.io']))
      await hub.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
    await hub.until(
      async () => (await hub.api.list(MANAGED_SERVICE_ACCOUNT).catch(() => undefined)) !== undefined,
    );
    await hub.collectGarbage();
    for (const name of ['cluster1', ADDON_NAMESPACE])
      await hub.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await hub.api.create(MANAGED_CLUSTER, {
      ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' },
      ...{ metadata: { name: 'cluster1' }, spec: { hubAcceptsClient: true } },
    });
    const apiVersion = 'addon.open-cluster-management.io/v1alpha1';
    const addOn = { apiVersion, kind: 'ClusterManagementAddOn', metadata: { name: ADDON }, spec: {} };
    const made = await hub.api.create(CLUSTER_MANAGEMENT_ADDON, addOn);
    const [metrics, probes] = [await freePort(), await freePort()];
    manager = startPeer('access/msa', {
      args: [
        ...['manager', `--kubeconfig=${hub.plane.kubeconfig}`, '--agent-image-name=example/agent:1'],
        ...[`--metrics-bind-address=127.0.0.1:${metrics}`, `--health-probe-bind-address=127.0.0.1:${probes}`],
        '--feature-gates=EphemeralIdentity=true',
      ],
      logFile: join(folder, 'msa.log'),
      env: { NAMESPACE: 'open-cluster-management-hub' },
    });
    await hub.api.create(MANAGED_CLUSTER_ADDON, {
      ...{ apiVersion, kind: 'ManagedClusterAddOn' },
      // OCM's add-on manager writes the owner.
      metadata: {
        ...{ namespace: 'cluster1', name: ADDON },
        ownerReferences: [{ apiVersion, kind: addOn.kind, name: ADDON, uid: made.metadata.uid ?? '' }],
      },
      spec: { installNamespace: ADDON_NAMESPACE },
    });
    const binding = { namespace: 'cluster1', name: 'managed-serviceaccount-addon-agent' };
    await manager.until(async () => (await hub.api.get(ROLE_BINDING, binding)) !== undefined);
    await startAgent();
  });
  afterAll(async () => {
    stop.abort();
    await agent;
    closeCluster();
    await manager?.stop();
    await hub?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** With the rights in the cluster that the add-on brings, and those on the hub that OCM's manager gives. */
  async function startAgent(): Promise<void> {
    const context = { installNamespace: ADDON_NAMESPACE, values: {} };
    for (const object of await managedServiceAccounts({ image: 'unused' }).manifests(context as never)) {
      const kind = await hub.api.resolve(object.apiVersion, object.kind);
      if (kind !== undefined) await hub.api.apply(kind, object, { fieldManager: 'test' });
    }
    const subject = { commonName: USER, organizations: [] };
    const pair = await new CertificateAuthority(authority).issueClient(subject, Date.now(), 86_400_000);
    const ca = Buffer.from(hub.plane.caPem).toString('base64');
    const kubeconfig = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'hub' },
      clusters: [{ name: 'hub', cluster: { server: hub.plane.url, 'certificate-authority-data': ca } }],
      users: [{ name: 'u', user: { 'client-certificate': 'tls.crt', 'client-key': 'tls.key' } }],
      contexts: [{ name: 'hub', context: { cluster: 'hub', user: 'u' } }],
    };
    const files = {
      ...{ kubeconfig: JSON.stringify(kubeconfig), 'cluster-name': 'cluster1' },
      ...{ 'tls.crt': pair.certPem, 'tls.key': pair.keyPem },
    };
    await hub.api.create(SECRET, {
      ...{ apiVersion: 'v1', kind: 'Secret' },
      metadata: { namespace: ADDON_NAMESPACE, name: `${ADDON}-hub-kubeconfig` },
      stringData: files,
    });
    const own = await asAccount(hub.api, AGENT, hub.plane.kubeconfig);
    closeCluster = () => own.api.close();
    agent = runAccountAgent({
      ...{ cluster: own.api, config: own.config, namespace: ADDON_NAMESPACE },
      ...{ clock, random: Math.random, log, signal: stop.signal },
    });
  }

  const tokenOf = async (): Promise<string | undefined> => {
    const secret = await hub.api.get(SECRET, KEY);
    return secret && secretTexts(secret)['token'];
  };

  it('brings a token that kube-apiserver accepts, and another one when it does not', async () => {
    await hub.api.create(MANAGED_SERVICE_ACCOUNT, managedAccount('deployer'));
    await hub.until(async () => (await tokenOf()) !== undefined);
    const token = (await tokenOf()) ?? '';
    const user = `system:serviceaccount:${ADDON_NAMESPACE}:deployer`;
    expect((await reviewToken(hub.api, token))?.username).toBe(user);
    await hub.until(async () => {
      const found = await hub.api.get(MANAGED_SERVICE_ACCOUNT, KEY);
      return JSON.stringify(found?.['status'] ?? {}).includes('"reason":"TokenReported"');
    });
    await hub.api.delete(SERVICE_ACCOUNT, { namespace: ADDON_NAMESPACE, name: 'deployer' });
    await hub.until(async () => (await tokenOf()) !== token);
    expect((await reviewToken(hub.api, (await tokenOf()) ?? ''))?.username).toBe(user);
    expect(JSON.stringify(log.entries)).not.toContain(token.split('.')[2]);
  });

  it('gives its token to the plugin of OCM for the namespaces to which a set is bound', async () => {
    const apiVersion = 'cluster.open-cluster-management.io/v1beta2';
    const place = { namespace: 'default', name: 'edge' };
    await hub.create(
      {
        ...{ apiVersion, kind: 'ManagedClusterSet', metadata: { name: 'edge' } },
        spec: { clusterSelector: { selectorType: 'LabelSelector', labelSelector: {} } },
      },
      { apiVersion, kind: 'ManagedClusterSetBinding', metadata: place, spec: { clusterSet: 'edge' } },
    );
    const bound = { type: 'Bound', status: 'True', reason: 'ClusterSetBound', message: '' };
    const conditions = [{ ...bound, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const ofStatus = { subresource: 'status' } as const;
    await hub.api.mergePatch(MANAGED_CLUSTER_SET_BINDING, place, { status: { conditions } }, ofStatus);
    const labels = { 'authentication.open-cluster-management.io/sync-to-clusterprofile': 'true' };
    await hub.api.mergePatch(MANAGED_SERVICE_ACCOUNT, KEY, { metadata: { labels } });
    const profiles = new ClusterProfiles({
      ...{ hub: hub.api, namespace: 'default', clock, random: Math.random, log, signal: stop.signal },
    });
    void profiles.run();
    const copy = { namespace: 'default', name: 'cluster1-deployer' };
    await hub.until(async () => (await hub.api.get(SECRET, copy)) !== undefined);
    const info = {
      ...{ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' },
      spec: { interactive: false, cluster: { server: 'https://x', config: { clusterName: 'cluster1' } } },
    };
    const env = {
      ...process.env,
      ...{
        KUBECONFIG: hub.plane.kubeconfig,
        NAMESPACE: 'default',
        KUBERNETES_EXEC_INFO: JSON.stringify(info),
      },
    };
    const { stdout } = await promisify(execFile)(
      peerProgram('access/cp-creds'),
      ['--managed-serviceaccount=deployer'],
      { env },
    );
    const printed = JSON.parse(stdout) as { readonly status: { readonly token: string } };
    const token = (await tokenOf()) ?? '';
    expect(printed.status.token).toBe(token);
    const own = makeCliIo({ env });
    expect(await runCli(['credentials', '--managed-serviceaccount', 'deployer'], own.io)).toBe(0);
    expect(JSON.parse(own.stdout())).toMatchObject({
      apiVersion: info.apiVersion,
      kind: info.kind,
      status: { token },
    });
  });

  it('lets all go with an account whose time is over, as the manager says', async () => {
    const spec = { ttlSecondsAfterCreation: 1 };
    await hub.api.mergePatch(MANAGED_SERVICE_ACCOUNT, KEY, { spec });
    await hub.until(async () => (await hub.api.get(MANAGED_SERVICE_ACCOUNT, KEY)) === undefined);
    await hub.until(async () => (await tokenOf()) === undefined);
    const account = { namespace: ADDON_NAMESPACE, name: 'deployer' };
    await hub.until(async () => (await hub.api.get(SERVICE_ACCOUNT, account)) === undefined);
  });
});
