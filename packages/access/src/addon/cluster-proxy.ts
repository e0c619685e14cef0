import type { X509Certificate } from 'node:crypto';
import { type AddOnDefinition, defineAddOn, signWithAuthority } from '@berth/addon';
import { ADDON_DEPLOYMENT_CONFIG } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { readCertificate } from '@berth/kube/x509/certificate-fields';
import { readSubject } from '@berth/kube/x509/certificate-subject';
import type { PemPair } from '@berth/kube/x509/self-signed-authority';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { clusterManagementAddOn } from './manager-rules.ts';
import { LEASE_RULE, podProcess } from './pod-process.ts';

/** The add-on, under OCM's name. */
export const CLUSTER_PROXY = 'cluster-proxy';
/** Of the certificates of its agents, as in OCM. */
export const SIGNER = 'open-cluster-management.io/proxy-agent-signer';
/** What the agent reads in its namespace: the address of the server and its authority. */
export const AGENT_CONFIG = 'cluster-proxy-agent';
/** Where people find the user server: a ConfigMap of the hub. */
export const USER_SERVER_CONFIG = 'cluster-proxy-user-server';
const ACCOUNT = 'cluster-proxy-agent';

export interface ClusterProxyOptions {
  readonly authority: PemPair;
  /** `host:port` to which agents dial. */
  readonly agentAddress: string;
  /** Of the container that runs `berth proxy agent`. */
  readonly image: string;
}

/** The Secret with the certificate of the agent, which the cluster's own agent keeps. */
export function agentSecret(cluster: string): string {
  return addonNames(CLUSTER_PROXY, cluster).customSignedSecret(SIGNER);
}

/**
 * The cluster in the certificate of an agent: the one whose user of the add-on it names, and whose group. The add-on's requests are
 * approved only if the agent of that cluster made them.
 */
export function clusterOfAgent({ raw }: X509Certificate): string | undefined {
  const fields = readCertificate(raw);
  const read = fields && readSubject(fields.subjectDer);
  if (read?.kind !== 'subject') return undefined;
  const { commonName, organizations } = read.subject;
  const [, cluster] = /^system:open-cluster-management:cluster:([^:]+):addon:/.exec(commonName) ?? [];
  if (cluster === undefined) return undefined;
  const { user, groups } = addonNames(CLUSTER_PROXY, cluster);
  return commonName === user && organizations.includes(groups[0] ?? '') ? cluster : undefined;
}

export function clusterProxyAddOn(): KubeObject {
  return clusterManagementAddOn(CLUSTER_PROXY, 'reaches the API servers of clusters');
}

/** The add-on whose agent dials out to the hub and reaches the API server of its cluster. */
export function clusterProxy({ authority, agentAddress, image }: ClusterProxyOptions): AddOnDefinition {
  return defineAddOn({
    name: CLUSTER_PROXY,
    health: 'lease',
    supportedConfigs: [ADDON_DEPLOYMENT_CONFIG],
    registration: {
      configurations: [{ type: 'CustomSigner', signerName: SIGNER }],
      sign: ({ request }) => signWithAuthority(authority, request),
    },
    manifests: async ({ cluster, installNamespace: namespace, values }) => [
      {
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: AGENT_CONFIG } },
        data: { cluster: cluster.metadata.name, server: agentAddress, 'ca.crt': authority.certPem },
      },
      ...podProcess({
        ...{ namespace, name: ACCOUNT, roleName: `open-cluster-management:${CLUSTER_PROXY}:agent` },
        ...{ image: values['IMAGE'] ?? image, args: ['proxy', 'agent', '--namespace', namespace] },
        // It impersonates users of the hub, whom the cluster's RBAC then judges.
        clusterRules: [
          { apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] },
          // Extra fields of a user are subresources, for which RBAC has no pattern of their own.
          { apiGroups: ['authentication.k8s.io'], resources: ['*'], verbs: ['impersonate'] },
        ],
        rules: [
          { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['get', 'list', 'watch'] },
          LEASE_RULE,
        ],
        container: { name: 'agent' },
      }),
    ],
  });
}
