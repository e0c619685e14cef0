import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import type { ControlPlane } from './control-plane.ts';
import { freePort } from './free-port.ts';
import { type PeerProcess, startPeer } from './peer-process.ts';

/** The program that `startOcmWebhook` needs: ask `hasPeers` first. */
export const OCM_WEBHOOK_PROGRAM = 'ocm/registration';

const HOUR_MS = 3_600_000;
const PATH = 'mutate-cluster-open-cluster-management-io-v1-managedcluster';
const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';

interface WebhookServer {
  /** Waits until `ready` holds. It closes the server and throws if that does not come. */
  readonly until: PeerProcess['until'];
  readonly url: string;
  readonly caBundle: string;
  readonly close: () => Promise<void>;
}

/** OCM's webhook servers all listen on the same two ports besides their own, so one runs at a time. Who listens here has the turn. */
const TURN_PORT = 18_000;

/** @returns ends the turn; it also ends with the process */
async function takeTurn(): Promise<() => Promise<void>> {
  for (;;) {
    const server = createServer();
    const isOurs = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(TURN_PORT, '127.0.0.1', () => resolve(true));
    });
    if (isOurs) return () => new Promise((resolve) => server.close(() => resolve()));
    // fixed wait: the pace of a poll
    await pause(200);
  }
}

async function startServer(program: string, { kubeconfig }: ControlPlane): Promise<WebhookServer> {
  const endTurn = await takeTurn();
  const dir = mkdtempSync(join(tmpdir(), 'berth-webhook-'));
  const pair = createAuthority('webhooks', Date.now());
  const authority = await CertificateAuthority.load(pair);
  const serving = await authority.issueServing(['127.0.0.1'], Date.now(), HOUR_MS);
  writeFileSync(join(dir, 'tls.crt'), serving.certPem);
  writeFileSync(join(dir, 'tls.key'), serving.keyPem);
  const port = String(await freePort());
  const args = ['webhook-server', '--port', port, '--certdir', dir, '--kubeconfig', kubeconfig];
  const webhook = startPeer(program, { args, logFile: join(dir, 'webhook.log') });
  const caBundle = Buffer.from(pair.certPem).toString('base64');
  const close = async (): Promise<void> => {
    await webhook.stop();
    await endTurn();
    rmSync(dir, { recursive: true, force: true });
  };
  const until: PeerProcess['until'] = (ready) =>
    webhook.until(ready).catch(async (error: unknown) => {
      await close();
      throw error;
    });
  return { until, url: `https://127.0.0.1:${port}`, caBundle, close };
}

/** The kinds that have two versions with different fields. */
const CONVERTED = ['clustermanagementaddons', 'managedclusteraddons'];
const ADDONS = 'addon.open-cluster-management.io';

/**
 * Runs OCM's conversion of the add-on API (`ocm/addon`) beside a control plane that calls it.
 * @returns ends it
 */
export async function startOcmConversion(plane: ControlPlane): Promise<() => Promise<void>> {
  const { client } = plane;
  const { until, url, caBundle, close } = await startServer('ocm/addon', plane);
  const clientConfig = { url: `${url}/convert`, caBundle };
  const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } };
  for (const plural of CONVERTED) {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${ADDONS}`;
    await client.call('PATCH', path, { spec: { conversion } }, 'application/merge-patch+json');
  }
  const probe = {
    ...{ apiVersion: `${ADDONS}/v1alpha1`, kind: 'ManagedClusterAddOn' },
    metadata: { namespace: 'default', name: 'probe' },
    spec: { installNamespace: 'probe' },
  };
  const collection = (version: string) =>
    `/apis/${ADDONS}/${version}/namespaces/default/managedclusteraddons`;
  await until(async () => {
    // Refused while the webhook is not known to the server yet, and when the probe is there.
    await client.call('POST', collection('v1alpha1'), probe);
    const { body } = await client.call('GET', `${collection('v1beta1')}/probe`);
    return body.metadata?.annotations?.[`${ADDONS}/v1alpha1-install-namespace`] === 'probe';
  });
  await client.call('DELETE', `${collection('v1alpha1')}/probe`);
  return close;
}

/**
 * Runs OCM's webhook of ManagedClusters beside a control plane that calls it for each one that is made or changed.
 * @returns ends it
 */
export async function startOcmWebhook(plane: ControlPlane): Promise<() => Promise<void>> {
  const { client } = plane;
  const { until, url, caBundle, close } = await startServer(OCM_WEBHOOK_PROGRAM, plane);
  const name = 'managedclustermutators.admission.cluster.open-cluster-management.io';
  await client.call('POST', CONFIGURATIONS, {
    metadata: { name },
    webhooks: [
      {
        name,
        failurePolicy: 'Fail',
        clientConfig: {
          url: `${url}/${PATH}`,
          caBundle,
        },
        rules: [
          {
            operations: ['CREATE', 'UPDATE'],
            apiGroups: ['cluster.open-cluster-management.io'],
            apiVersions: ['*'],
            resources: ['managedclusters'],
          },
        ],
        admissionReviewVersions: ['v1beta1', 'v1'],
        sideEffects: 'None',
      },
    ],
  });
  const stop = async (): Promise<void> => {
    await client.call('DELETE', `${CONFIGURATIONS}/${name}`);
    await close();
  };
  const probe = {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name: 'probe' },
    spec: { taints: [{ key: 'probe', effect: 'NoSelect' }] },
  };
  const path = '/apis/cluster.open-cluster-management.io/v1/managedclusters?dryRun=All';
  await until(async () => {
    const { body } = await client.call('POST', path, probe);
    return body.spec?.taints?.[0]?.timeAdded !== undefined;
  });
  return stop;
}
