import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import { copiedLabels, type GitOpsCluster, type LabelAllowList } from './gitops-cluster.ts';

/** The label that makes Argo CD read a Secret as a cluster. */
export const SECRET_TYPE_LABEL = 'argocd.argoproj.io/secret-type';
/** On a cluster Secret: the name of the ManagedCluster. */
const CLUSTER_NAME_LABEL = 'apps.open-cluster-management.io/cluster-name';
/** On a cluster Secret: the name by which argocd-agent finds the agent. */
const AGENT_NAME_LABEL = 'argocd-agent.argoproj-labs.io/agent-name';
/**
 * On a cluster Secret: the GitOpsCluster, `NAMESPACE/NAME`, for which Berth wrote it. Berth changes no Secret without
 * this annotation.
 */
export const GITOPS_CLUSTER_ANNOTATION = 'berth.dev/gitops-cluster';
/**
 * On a cluster Secret: the keys of the labels that Berth copied, separated by commas. All other labels belong to
 * others.
 */
export const COPIED_LABELS_ANNOTATION = 'berth.dev/copied-labels';

/** How Argo CD reaches a cluster. */
export interface ClusterCredentials {
  /** URL, without a trailing slash. */
  readonly server: string;
  /** JSON text of `config`; undefined: none. */
  readonly config: string | undefined;
}

/** A cluster Secret as the cache stores it: only a digest of its credentials. */
export interface KnownSecret {
  readonly metadata: ObjectMeta;
  /** The name of the cluster in Argo CD. */
  readonly name: string;
  readonly server: string;
  /** Undefined if there is no config. */
  readonly configDigest: string | undefined;
}

export interface DesiredSecret {
  readonly cluster: string;
  /** The name for a new Secret. */
  readonly secretName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly credentials: ClusterCredentials;
}

/**
 * The Secret that registers a cluster, in the declarative format of Argo CD, with the names of multicloud-integrations
 * and argocd-pull-integration.
 */
export function desiredSecret(
  { key, access, placement }: GitOpsCluster,
  { name: cluster, labels }: ObjectMeta,
  credentials: ClusterCredentials,
  allowed: LabelAllowList,
): DesiredSecret {
  const agent: Readonly<Record<string, string>> =
    access.kind === 'agent'
      ? { [AGENT_NAME_LABEL]: cluster, 'placement-name': placement.slice(placement.indexOf('/') + 1) }
      : {};
  const own = { ...agent, [SECRET_TYPE_LABEL]: 'cluster', [CLUSTER_NAME_LABEL]: cluster };
  const copied = copiedLabels(labels, allowed, new Set(Object.keys(own)));
  return {
    cluster,
    secretName: secretNameOf(cluster, access),
    labels: { ...copied, ...own },
    annotations: {
      [GITOPS_CLUSTER_ANNOTATION]: key,
      [COPIED_LABELS_ANNOTATION]: Object.keys(copied).sort().join(','),
    },
    credentials,
  };
}

/** The address of a cluster to which this Argo CD never connects: a placeholder in the same format as upstream. */
export function blankCredentials(cluster: string, access: GitOpsCluster['access']): ClusterCredentials {
  const port = access.kind === 'agent' ? '' : ':6443';
  return { server: `https://${cluster}-control-plane${port}`, config: undefined };
}

/** The GitOpsCluster for which Berth wrote the Secret, as `namespace/name`. Undefined: Berth did not write it. */
export function ownerOf({ metadata }: Pick<KnownSecret, 'metadata'>): string | undefined {
  return metadata.annotations?.[GITOPS_CLUSTER_ANNOTATION];
}

/** A new Secret. `stringData` becomes `data` on the server. */
export function newSecret(wanted: DesiredSecret, namespace: string): KubeObject {
  const { secretName, labels, annotations, cluster, credentials } = wanted;
  const { server, config } = credentials;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName, namespace, labels, annotations },
    type: 'Opaque',
    stringData: { name: cluster, server, ...(config !== undefined && { config }) },
  };
}

/**
 * The merge patch that updates a Secret of Berth, or undefined if it is up to date. Labels and keys of others stay.
 * @param digest of the text of a config
 */
export function secretPatch(
  known: KnownSecret,
  { labels, annotations, credentials, cluster }: DesiredSecret,
  digest: (text: string) => string,
): object | undefined {
  const { metadata } = known;
  const now = metadata.labels ?? {};
  const before = (metadata.annotations?.[COPIED_LABELS_ANNOTATION] ?? '').split(',');
  const removedLabels = before.filter((label) => label in now && !(label in labels));
  const { server, config } = credentials;
  const isEqual =
    removedLabels.length === 0 &&
    includesAll(now, labels) &&
    includesAll(metadata.annotations ?? {}, annotations) &&
    known.name === cluster &&
    known.server === server &&
    known.configDigest === (config === undefined ? undefined : digest(config));
  if (isEqual) return undefined;
  return {
    metadata: {
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      labels: { ...Object.fromEntries(removedLabels.map((label) => [label, null])), ...labels },
      annotations,
    },
    stringData: { name: cluster, server, ...(config !== undefined && { config }) },
    ...(config === undefined && known.configDigest !== undefined && { data: { config: null } }),
  };
}

function secretNameOf(cluster: string, access: GitOpsCluster['access']): string {
  switch (access.kind) {
    case 'service-account':
      return `${cluster}-${access.name}-cluster-secret`;
    case 'given':
      return `${cluster}-cluster-secret`;
    case 'blank':
      return `${cluster}-secret`;
    case 'agent':
      return `cluster-${cluster}`;
  }
}

function includesAll(
  present: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => present[key] === value);
}

interface Trimmed {
  readonly cluster: Omit<KnownSecret, 'metadata'>;
}

/**
 * Reduces a cluster Secret to what decisions need, so that no credentials stay in memory.
 * @param digest of text
 * @param decode base64 to text
 */
export function trimClusterSecret(
  object: KubeObject,
  {
    digest,
    decode,
  }: { readonly digest: (text: string) => string; readonly decode: (base64: string) => string },
): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const data = (object['data'] ?? {}) as Readonly<Partial<Record<string, string>>>;
  const { name = '', server = '', config } = data;
  const cluster: Trimmed['cluster'] = {
    name: decode(name),
    server: withoutSlash(decode(server)),
    configDigest: config === undefined ? undefined : digest(decode(config)),
  };
  const { 'kubectl.kubernetes.io/last-applied-configuration': _content, ...annotations } =
    metadata.annotations ?? {};
  return { apiVersion, kind, metadata: { ...metadata, annotations }, cluster };
}

export function knownSecret(trimmed: KubeObject): KnownSecret {
  const { metadata, cluster } = trimmed as KubeObject & Trimmed;
  return { metadata, ...cluster };
}

/** Argo CD compares addresses without the trailing slash. */
export function withoutSlash(server: string): string {
  return server.replace(/\/+$/, '');
}
