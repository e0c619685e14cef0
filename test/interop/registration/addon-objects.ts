import { generateKeyPairSync, webcrypto } from 'node:crypto';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

const GROUP = 'addon.open-cluster-management.io';
export const HUB_NAMESPACE = 'open-cluster-management-hub';
export const SIGNER = 'example.com/agents';
export const READER = 'addon-reader';
const ALGORITHM = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

/** An add-on of a template: a client of the hub, and a client of another authority, which the add-on manager signs for. */
export const TEMPLATE_ADDON = [
  {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'AddOnTemplate',
    metadata: { name: 'hello-1' },
    spec: {
      addonName: 'hello',
      agentSpec: {
        workload: {
          manifests: [
            {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              metadata: { name: 'hello', namespace: 'default' },
              data: { cluster: '{{CLUSTER_NAME}}' },
            },
          ],
        },
      },
      registration: [
        {
          type: 'KubeClient',
          kubeClient: {
            hubPermissions: [{ type: 'CurrentCluster', currentCluster: { clusterRoleName: READER } }],
          },
        },
        {
          type: 'CustomSigner',
          customSigner: {
            signerName: SIGNER,
            subject: { user: 'hello-agent', groups: ['agents'], organizationUnit: ['unit-7'] },
            signingCA: { name: 'agents-ca', namespace: HUB_NAMESPACE },
          },
        },
      ],
    },
  },
  {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'ClusterManagementAddOn',
    metadata: { name: 'hello' },
    spec: {
      supportedConfigs: [{ group: GROUP, resource: 'addontemplates', defaultConfig: { name: 'hello-1' } }],
    },
  },
] as const;

/** An add-on whose manager does not run; its agent has a lease. */
export const LEASED_ADDON = {
  apiVersion: `${GROUP}/v1alpha1`,
  kind: 'ClusterManagementAddOn',
  metadata: { name: 'leased' },
  spec: {},
} as const;

export const READER_ROLE = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: READER },
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }],
} as const;

export function managedAddon(namespace: string, name: string) {
  return {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'ManagedClusterAddOn',
    metadata: { namespace, name },
    spec: { installNamespace: 'open-cluster-management-agent-addon' },
  } as const;
}

/** The authority of the other signer, with an RSA key in PKCS#1, which OCM's signer needs. */
export async function signingAuthority() {
  x509.cryptoProvider.set(webcrypto as never);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const importKey = (format: 'pkcs8' | 'spki', der: Buffer, usage: 'sign' | 'verify') =>
    webcrypto.subtle.importKey(format, der, ALGORITHM, true, [usage]);
  const keys = {
    privateKey: await importKey('pkcs8', privateKey.export({ type: 'pkcs8', format: 'der' }), 'sign'),
    publicKey: await importKey('spki', publicKey.export({ type: 'spki', format: 'der' }), 'verify'),
  };
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=agents-ca',
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 86_400_000),
    signingAlgorithm: ALGORITHM,
    keys: keys as never,
    extensions: [new x509.BasicConstraintsExtension(true)],
  });
  const data = {
    'tls.crt': certificate.toString('pem'),
    'tls.key': privateKey.export({ type: 'pkcs1', format: 'pem' }),
  };
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return {
    certificate: data['tls.crt'],
    secret: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: HUB_NAMESPACE, name: 'agents-ca' },
      data: Object.fromEntries(encoded) as Readonly<Record<string, string>>,
    },
  };
}
