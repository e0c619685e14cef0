import path from 'node:path';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import {
  apiVersionOf,
  APPLIED_MANIFEST_WORK,
  CLUSTER_CLAIM,
  type KindInfo,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import {
  AGENT_NAMESPACE,
  BOOTSTRAP_SECRET,
  CLUSTER_NAME_LABEL,
  HUB_KUBECONFIG_SECRET,
} from '@berth/ocm/registration/names';
import { InputError } from '@berth/runtime/errors';
import { sha256 } from '@berth/runtime/sha256';
import { AGENT_ACCOUNT, renderAgentRbac, renderCredentialRbac } from '../../../../core/rbac/agent-rbac.ts';
import { installedBy } from '../../../../core/registration/install/installed-object.ts';
import { berthHome } from '../../../background/background-process.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { wrongOption } from '../../flags/option-values.ts';
import { objectsIn } from './run-installation.ts';

/** The cluster of the kubeconfig of `berth join` and `berth unjoin`, for messages. */
export const AGENT_CLUSTER = 'the cluster where the agent runs';

/** Maximum length of the cluster's name in the name of a namespace. */
const NAME_PART = 24;

/**
 * The namespace of a hosted agent. Each agent has its own, since a hosting cluster may have
 * several.
 */
export function hostedNamespace(clusterName: string, hub: string): string {
  const part = clusterName.slice(0, NAME_PART).replace(/-+$/, '');
  return `open-cluster-management-${part}-${sha256(`${clusterName} ${hub}`).slice(0, 8)}`;
}

const RBAC = 'rbac.authorization.k8s.io';

/** The namespace, the account and the rights of an agent, on the cluster where it runs. */
export async function agentRights(
  mode: 'default' | 'hosted',
  { namespace, clusterName }: { readonly namespace: string; readonly clusterName: string },
): Promise<readonly KubeObject[]> {
  // The managed cluster is reached with the given kubeconfig, and with the rights of its user.
  if (mode === 'hosted') return objectsIn(renderCredentialRbac(namespace, HUB_KUBECONFIG_SECRET));
  const registers = { secret: { namespace, name: HUB_KUBECONFIG_SECRET } };
  const duties = { clusterName, namespace, executorCache: false, registers, side: 'managed' } as const;
  const subjects = [{ kind: 'ServiceAccount', name: AGENT_ACCOUNT, namespace }];
  const objects: readonly KubeObject[] = [
    ...(await objectsIn(renderAgentRbac(duties))),
    // The rights for the manifests of works, the same as for OCM's agent.
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: `${AGENT_ACCOUNT}-admin` },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'admin' },
      subjects,
    },
  ];
  return namespace === AGENT_NAMESPACE ? objects : objects.map((object) => ofNamespace(object, namespace));
}

/** Makes the cluster-wide roles and bindings unique, so that several agents can share the cluster. */
function ofNamespace(object: KubeObject, namespace: string): KubeObject {
  const { kind, metadata, roleRef } = object;
  if (kind !== 'ClusterRole' && kind !== 'ClusterRoleBinding') return object;
  const own = (name: string): string => (name.startsWith(AGENT_ACCOUNT) ? `${name}-${namespace}` : name);
  const renamed = { ...object, metadata: { ...metadata, name: own(metadata.name) } };
  if (roleRef === undefined) return renamed;
  const ref = roleRef as { readonly name: string };
  return { ...renamed, roleRef: { ...ref, name: own(ref.name) } };
}

/**
 * The folder for the files of an agent that runs in the background.
 * @param server of the cluster that has its objects
 */
export function agentFolder(
  io: CliIo,
  clusterName: string,
  place: { readonly server: string; readonly namespace: string },
): string {
  const digest = sha256(`${place.server} ${place.namespace}`).slice(0, 12);
  return path.join(berthHome(io.env), 'agents', `${clusterName}-${digest}`);
}

/** An agent that `berth join` installed. */
export interface InstalledAgent {
  readonly namespace: string;
  readonly clusterName: string;
  /** The URL of the hub. */
  readonly hub: string;
}

/** The agents that `berth join` installed on a cluster. */
export async function installedAgents(api: KubeApi): Promise<readonly InstalledAgent[]> {
  const { items } = await api.list(SECRET, { labelSelector: installedBy('join') });
  return items
    .filter(({ metadata }) => metadata.name === BOOTSTRAP_SECRET)
    .map(({ metadata, data }) => ({
      namespace: metadata.namespace ?? '',
      clusterName: metadata.labels?.[CLUSTER_NAME_LABEL] ?? '',
      hub: hubOf(data),
    }));
}

function hubOf(data: unknown): string {
  const base64 = (data as Readonly<Record<string, string>> | undefined)?.['kubeconfig'] ?? '';
  // In the form in which this program writes it.
  const [, server = ''] = /"server":"([^"]+)"/.exec(Buffer.from(base64, 'base64').toString('utf8')) ?? [];
  return server;
}

/**
 * @returns whether this agent is installed in the namespace already
 * @throws InputError when the namespace has the agent of another cluster, of another hub, or of OCM
 */
export async function checkNamespace(api: KubeApi, wanted: InstalledAgent): Promise<boolean> {
  const { namespace, clusterName, hub } = wanted;
  const existing = (await installedAgents(api)).find((agent) => agent.namespace === namespace);
  if (existing === undefined) {
    if ((await api.get(SECRET, { namespace, name: BOOTSTRAP_SECRET })) === undefined) return false;
    throw new InputError('was not written by berth join: the cluster already has an agent', {
      code: 'join.other-agent',
      subject: `Secret ${namespace}/${BOOTSTRAP_SECRET}`,
      hint: 'remove that agent first; an OCM agent can join a Berth hub unchanged',
    });
  }
  const differs = existing.clusterName === clusterName ? existing.hub !== hub : true;
  if (!differs) return true;
  throw new InputError(
    `has the agent of ${existing.clusterName} on ${existing.hub}, expected no agent or that of ${clusterName} on ${hub}`,
    {
      code: 'join.other-agent',
      subject: `Namespace ${namespace}`,
      hint: `remove it with berth unjoin --cluster-name ${existing.clusterName}, or use another --agent-namespace`,
    },
  );
}

/** OCM's kinds that an agent needs on the managed cluster. */
const KINDS = [APPLIED_MANIFEST_WORK, CLUSTER_CLAIM];

/** The CRDs that are missing on the cluster. */
export async function agentDefinitions(api: KubeApi): Promise<readonly KubeObject[]> {
  const isServed = await Promise.all(KINDS.map((kind) => serves(api, kind)));
  return KINDS.filter((_kind, index) => isServed[index] === false).map(definitionOf);
}

/** The definitions of those kinds without an object on the cluster. */
export async function unusedDefinitions(api: KubeApi): Promise<readonly KubeObject[]> {
  const isUnused = await Promise.all(
    KINDS.map(async (kind) => (await serves(api, kind)) && (await api.list(kind)).items.length === 0),
  );
  return KINDS.filter((_kind, index) => isUnused[index] === true).map(definitionOf);
}

const serves = async (api: KubeApi, kind: KindInfo): Promise<boolean> =>
  (await api.resolve(apiVersionOf(kind), kind.kind)) !== undefined;

function definitionOf({ group, plural }: KindInfo): KubeObject {
  const [crd] = ocmCrds([group]).filter(
    ({ metadata }) => (metadata as { readonly name: string }).name === `${plural}.${group}`,
  );
  return crd as unknown as KubeObject;
}

/**
 * Checks that a kubeconfig is self-contained, since the agent does not run on this machine.
 * @throws InputError for one that names files or a program, or cannot be used
 */
export function checkManagedKubeconfig(text: string): void {
  const config = loadKubeConfig({ text });
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  const outside = [
    ['certificate-authority', cluster?.caFile],
    ['client-certificate', user?.certFile],
    ['client-key', user?.keyFile],
    ['tokenFile', user?.tokenFile],
    ['exec', user?.exec],
    ['auth-provider', user?.authProvider],
  ] as const;
  const found = outside.find(([, value]) => value !== undefined);
  if (found !== undefined)
    throw wrongOption(
      '--managed-cluster-kubeconfig',
      `has the field ${found[0]}, expected certificates, keys and tokens in the file itself: kubectl config view --minify --flatten`,
    );
}
