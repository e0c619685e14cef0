import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  kind,
  LEASE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  NAMESPACE,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { formatMicroTime, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HubSide } from '../../agent/registration/hub-side.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { freePort } from '../peers/free-port.ts';
import { startPeer } from '../peers/peer-process.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import {
  HUB_NAMESPACE,
  LEASED_ADDON,
  managedAddon,
  READER_ROLE,
  signingAuthority,
  TEMPLATE_ADDON,
} from './addon-objects.ts';
import { conditionsOf, filesOf, maySeeConfigMaps } from './addon-checks.ts';
import { startOurAgent } from './matrix-agents.ts';

const CLUSTER = 'edge-1';
const INSTALLED = 'open-cluster-management-agent-addon';
const ADDON_TEMPLATE = kind('addon.open-cluster-management.io', 'v1alpha1', 'AddOnTemplate', 'Cluster');
const HUB_SECRET = { namespace: INSTALLED, name: 'hello-hub-kubeconfig' };
const SIGNED_SECRET = { namespace: INSTALLED, name: 'hello-example.com-agents-client-cert' };
const PATIENT = { timeout: OUTAGE_PATIENCE_MS, interval: 250 };

/** OCM's registration controller and add-on manager on an embedded hub, and a managed cluster with our agent. */
async function startWorld() {
  const dir = mkdtempSync(join(tmpdir(), 'berth-addons-'));
  const [hub, member] = [await startEmbeddedHub(), await startEmbeddedHub()];
  const side = new HubSide(hub.api);
  const makeNamespace = (api: KubeApi, name: string) =>
    api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await makeNamespace(hub.api, HUB_NAMESPACE);
  for (const name of ['open-cluster-management-agent', INSTALLED]) await makeNamespace(member.api, name);
  const controllers = await Promise.all(
    (
      [
        ['ocm/registration', 'controller'],
        ['ocm/addon', 'manager'],
      ] as const
    ).map(async ([program, command]) =>
      startPeer(program, {
        args: [
          ...[command, `--kubeconfig=${hub.kubeconfig}`, `--namespace=${HUB_NAMESPACE}`],
          ...['--disable-leader-election', `--listen=127.0.0.1:${await freePort()}`],
        ],
        logFile: join(dir, `${program.replace('/', '-')}.log`),
        env: { POD_NAME: 'test', POD_NAMESPACE: HUB_NAMESPACE },
      }),
    ),
  );
  const hubDir = join(dir, 'hub');
  const startAgent = (...flags: string[]) =>
    startOurAgent({
      ...{ cluster: CLUSTER, bootstrap: hub.kubeconfig, kubeconfig: member.kubeconfig },
      ...{ hubDir, logDir: dir, flags },
    });
  let agent = startAgent();
  onTestFinished(async () => {
    await agent.kill();
    for (const controller of controllers) await controller.stop();
    await member.close();
    await hub.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    ...{ dir, side, hub: hub.api, member: member.api },
    restartAgent: async (...flags: string[]): Promise<void> => {
      await agent.kill();
      agent = startAgent(...flags);
    },
    killAgent: () => agent.kill(),
  };
}

type World = Awaited<ReturnType<typeof startWorld>>;

async function joinHub({ side, hub }: World): Promise<void> {
  await expect.poll(() => side.requests(CLUSTER), PATIENT).toHaveLength(1);
  const spec = { hubAcceptsClient: true, leaseDurationSeconds: 2 };
  await hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name: CLUSTER }, { spec });
  await side.decide(CLUSTER);
  await expect.poll(() => side.condition(CLUSTER, 'ManagedClusterConditionAvailable'), PATIENT).toBe('True');
}

/** What the add-on's agent may read on the hub: `default` and the namespace of its cluster. */
const mayRead = async ({ dir, member }: World): Promise<readonly boolean[]> =>
  maySeeConfigMaps(await filesOf(member, HUB_SECRET), dir, ['default', CLUSTER]);

describe.skipIf(!hasPeers('ocm/registration', 'ocm/addon'))('our agent with OCM’s add-on manager', () => {
  it('registers the add-on of a template by certificates, by another signer, and by a token', async () => {
    const world = await startWorld();
    const { hub, member } = world;
    const authority = await signingAuthority();
    await hub.create(SECRET, authority.secret);
    await hub.create(CLUSTER_ROLE, READER_ROLE);
    await joinHub(world);
    await hub.create(ADDON_TEMPLATE, TEMPLATE_ADDON[0]);
    await hub.create(CLUSTER_MANAGEMENT_ADDON, TEMPLATE_ADDON[1]);
    await hub.create(MANAGED_CLUSTER_ADDON, managedAddon(CLUSTER, 'hello'));
    await expect
      .poll(async () => Object.keys(await filesOf(member, HUB_SECRET)).sort(), PATIENT)
      .toEqual([...['cluster-name', 'kubeconfig', 'tls.crt', 'tls.key']]);
    await expect.poll(() => mayRead(world), PATIENT).toEqual([false, true]);
    await expect.poll(async () => Object.keys(await filesOf(member, SIGNED_SECRET)).length, PATIENT).toBe(3);
    const signed = new X509Certificate((await filesOf(member, SIGNED_SECRET))['tls.crt'] ?? '');
    expect(signed.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
    expect(signed.subject.split('\n').sort()).toEqual(['CN=hello-agent', 'O=agents', 'OU=unit-7']);
    await expect
      .poll(() => conditionsOf(hub, CLUSTER, 'hello'), PATIENT)
      .toMatchObject({
        ClusterCertificateRotated: 'True ClientCertificateUpdated',
        ManifestApplied: 'True AddonManifestApplied',
        RegistrationApplied: 'True SetPermissionApplied',
        Progressing: 'False Completed',
      });
    // One request each: of the cluster, of the client of the hub, of the other signer.
    expect(await world.side.requests(CLUSTER)).toHaveLength(3);

    await world.restartAgent('--addon-kubeclient-registration-auth', 'token');
    await expect
      .poll(async () => Object.keys(await filesOf(member, HUB_SECRET)).sort(), PATIENT)
      .toEqual([...['cluster-name', 'kubeconfig', 'token']]);
    await expect.poll(() => mayRead(world), PATIENT).toEqual([false, true]);
    await expect
      .poll(() => conditionsOf(hub, CLUSTER, 'hello'), PATIENT)
      .toMatchObject({ TokenRefreshed: 'True AddonTokenRefreshed' });

    await world.restartAgent();
    await expect
      .poll(async () => Object.keys(await filesOf(member, HUB_SECRET)), PATIENT)
      .toContain('tls.crt');
    await expect.poll(() => mayRead(world), PATIENT).toEqual([false, true]);
    await hub.delete(MANAGED_CLUSTER_ADDON, { namespace: CLUSTER, name: 'hello' });
    await expect.poll(() => filesOf(member, HUB_SECRET), PATIENT).toEqual({});
    await expect.poll(() => filesOf(member, SIGNED_SECRET), PATIENT).toEqual({});
  });

  it('reports the health by lease, and takes it up again after the cluster was unknown', async () => {
    const world = await startWorld();
    const { hub, member } = world;
    await joinHub(world);
    await hub.create(CLUSTER_MANAGEMENT_ADDON, LEASED_ADDON);
    await hub.create(MANAGED_CLUSTER_ADDON, managedAddon(CLUSTER, 'leased'));
    const available = async () => (await conditionsOf(hub, CLUSTER, 'leased'))['Available'];
    await expect.poll(available, PATIENT).toBe('Unknown ManagedClusterAddOnLeaseNotFound');
    await member.create(LEASE, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: INSTALLED, name: 'leased' },
      spec: { renewTime: formatMicroTime(instantFromEpochMs(Date.now())) },
    });
    await expect.poll(available, PATIENT).toBe('True ManagedClusterAddOnLeaseUpdated');
    await world.killAgent();
    await expect.poll(available, PATIENT).toBe('Unknown ManagedClusterLeaseUpdateStopped');
    await world.restartAgent();
    await expect.poll(available, PATIENT).toBe('True ManagedClusterAddOnLeaseUpdated');
  });
});
