import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import type { ControlPlane } from './control-plane.ts';
import { freePort } from './free-port.ts';
import { startPeer } from './peer-process.ts';

/** The program that `startOcmWebhook` needs: ask `hasPeers` first. */
export const OCM_WEBHOOK_PROGRAM = 'ocm/registration';

const HOUR_MS = 3_600_000;
const PATH = 'mutate-cluster-open-cluster-management-io-v1-managedcluster';
const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';

/**
 * Runs OCM's webhook of ManagedClusters beside a control plane that calls it for each one that is made or changed.
 * @returns ends it
 */
export async function startOcmWebhook({ client, kubeconfig }: ControlPlane): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'berth-webhook-'));
  const pair = createAuthority('webhooks', Date.now());
  const authority = await CertificateAuthority.load(pair);
  const serving = await authority.issueServing(['127.0.0.1'], Date.now(), HOUR_MS);
  writeFileSync(join(dir, 'tls.crt'), serving.certPem);
  writeFileSync(join(dir, 'tls.key'), serving.keyPem);
  const port = String(await freePort());
  const args = ['webhook-server', '--port', port, '--certdir', dir, '--kubeconfig', kubeconfig];
  const webhook = startPeer(OCM_WEBHOOK_PROGRAM, { args, logFile: join(dir, 'webhook.log') });
  const name = 'managedclustermutators.admission.cluster.open-cluster-management.io';
  await client.call('POST', CONFIGURATIONS, {
    metadata: { name },
    webhooks: [
      {
        name,
        failurePolicy: 'Fail',
        clientConfig: {
          url: `https://127.0.0.1:${port}/${PATH}`,
          caBundle: Buffer.from(pair.certPem).toString('base64'),
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
    await webhook.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  const probe = {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: { name: 'probe' },
    spec: { taints: [{ key: 'probe', effect: 'NoSelect' }] },
  };
  const path = '/apis/cluster.open-cluster-management.io/v1/managedclusters?dryRun=All';
  await webhook.until(async () => {
    const { body } = await client.call('POST', path, probe);
    return body.spec?.taints?.[0]?.timeAdded !== undefined;
  });
  return stop;
}
