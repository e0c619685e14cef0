import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { type ManagedCluster, takesWork } from '@berth/ocm/kind/managed-cluster';
import { PRUNE_ANNOTATION } from '../../sync/applied/departure.ts';
import {
  blankCredentials,
  type ClusterCredentials,
  type DesiredSecret,
  desiredSecret,
  type KnownSecret,
  ownerOf,
  withoutSlash,
} from './cluster-secret.ts';
import type { GitOpsCluster, LabelAllowList } from './gitops-cluster.ts';

/** A cluster that a GitOpsCluster wants to register in Argo CD. */
export interface Registration {
  readonly gitOpsCluster: GitOpsCluster;
  readonly cluster: ManagedCluster;
}

/** What is known about the connection to a cluster. */
export type CredentialReading =
  | { readonly kind: 'read'; readonly credentials: ClusterCredentials }
  /** Missing, or not created yet. */
  | { readonly kind: 'missing'; readonly why: string };

export interface ClusterSecretsInput {
  /** Sorted by precedence. */
  readonly gitOpsClusters: readonly GitOpsCluster[];
  /** Names of the clusters that a placement selects; undefined if unknown. */
  readonly selected: (placement: string) => readonly string[] | undefined;
  readonly cluster: (name: string) => ManagedCluster | undefined;
  /** All cluster secrets in the namespace of Argo CD. */
  readonly secrets: readonly KnownSecret[];
  /** Keys of the GitOpsClusters whose wanted clusters are unknown. */
  readonly unreadable: ReadonlySet<string>;
  /** False if not all GitOpsClusters could be listed. Then none counts as deleted. */
  readonly isComplete: boolean;
  readonly allowedLabels: LabelAllowList;
}

export interface AssignedClusters {
  readonly registrations: readonly Registration[];
  /** Secrets of Berth that no GitOpsCluster wants. */
  readonly unwanted: readonly KnownSecret[];
  /** Sentences for the status of a GitOpsCluster, by its key. */
  readonly problems: ReadonlyMap<string, readonly string[]>;
  /** Selected clusters by the key of the GitOpsCluster. No entry: unknown. */
  readonly selected: ReadonlyMap<string, readonly string[]>;
}

/**
 * Decides which GitOpsCluster registers which cluster. Each cluster is registered once: by the GitOpsCluster that
 * registered it before, otherwise by the first one that wants it. A Secret is unwanted only if every GitOpsCluster that
 * could want it was read.
 */
export function assignClusters(input: ClusterSecretsInput): AssignedClusters {
  const { gitOpsClusters, secrets, isComplete } = input;
  const problems = new Map<string, string[]>();
  const addProblem = (key: string, problem: string): void => {
    problems.set(key, [...(problems.get(key) ?? []), problem]);
  };
  const selected = new Map<string, readonly string[]>();
  const wantedBy = new Map<string, GitOpsCluster[]>();
  const unknown = new Set(input.unreadable);
  for (const gitOpsCluster of gitOpsClusters) {
    const { key, placement } = gitOpsCluster;
    const clusters = input.selected(placement);
    if (clusters === undefined) {
      unknown.add(key);
      addProblem(key, `nothing is published for placement ${placement}`);
      continue;
    }
    selected.set(key, clusters);
    for (const cluster of clusters) wantedBy.set(cluster, [...(wantedBy.get(cluster) ?? []), gitOpsCluster]);
  }
  const owned = new Map(
    secrets.filter((secret) => ownerOf(secret) !== undefined).map((one) => [one.name, one]),
  );
  const registrations = [...wantedBy].flatMap(([name, wanting]): readonly Registration[] => {
    const cluster = input.cluster(name);
    const before = owned.get(name);
    const last = wanting.find(({ key }) => before !== undefined && key === ownerOf(before));
    const gitOpsCluster = last ?? wanting[0];
    if (gitOpsCluster === undefined) return [];
    for (const other of wanting)
      if (other !== gitOpsCluster)
        addProblem(other.key, `cluster ${name} is registered by ${gitOpsCluster.key}`);
    if (cluster === undefined) {
      addProblem(gitOpsCluster.key, `cluster ${name}: there is no ManagedCluster of this name`);
      return [];
    }
    return [{ gitOpsCluster, cluster }];
  });
  const unwanted = [...owned.values()].filter((secret) => {
    const owner = ownerOf(secret) ?? '';
    return !wantedBy.has(secret.name) && isComplete && !unknown.has(owner);
  });
  return { registrations, unwanted, problems, selected };
}

/** The action for one registration. */
export type SecretStep =
  | { readonly kind: 'write'; readonly wanted: DesiredSecret; readonly known: KnownSecret | undefined }
  | { readonly kind: 'refuse'; readonly why: string };

/** Never overwrites a Secret of others, and never creates one with a name or address that Argo CD already knows. */
export function planSecret(
  { gitOpsCluster, cluster }: Registration,
  reading: CredentialReading,
  { secrets, allowedLabels }: Pick<ClusterSecretsInput, 'secrets' | 'allowedLabels'>,
): SecretStep {
  const { name } = cluster.metadata;
  const foreign = secrets.find((secret) => ownerOf(secret) === undefined && secret.name === name);
  if (foreign !== undefined)
    return { kind: 'refuse', why: `Secret ${foreign.metadata.name} of somebody else registers it already` };
  if (reading.kind === 'missing') return { kind: 'refuse', why: reading.why };
  const { credentials } = reading;
  const sameServer = secrets.find((secret) => secret.name !== name && secret.server === credentials.server);
  if (sameServer !== undefined)
    return {
      kind: 'refuse',
      why: `its address ${credentials.server} is that of cluster ${sameServer.name} (Secret ${sameServer.metadata.name}); Argo CD distinguishes clusters by it`,
    };
  const known = secrets.find((secret) => secret.name === name);
  if (known === undefined && !takesWork(cluster))
    return { kind: 'refuse', why: 'it is being deleted, so no Secret is made for it' };
  return {
    kind: 'write',
    wanted: desiredSecret(gitOpsCluster, cluster.metadata, credentials, allowedLabels),
    known,
  };
}

/** The credentials of a cluster to which this Argo CD does not connect. None are read. */
export function placeholderCredentials({ gitOpsCluster, cluster }: Registration): CredentialReading {
  return {
    kind: 'read',
    credentials: blankCredentials(cluster.metadata.name, gitOpsCluster.access),
  };
}

type RemovalStep =
  | { readonly kind: 'remove'; readonly consented: boolean }
  | { readonly kind: 'keep'; readonly applications: readonly string[] };

/**
 * Removing a cluster Secret removes the cluster from Argo CD: ApplicationSets delete its Applications and orphan the
 * workload on the cluster. So the Secret is removed only if no Application needs it, or if it has the annotation
 * `berth.dev/prune: enabled`.
 * @param applications of all namespaces, as on the hub now
 */
export function planRemoval(secret: KnownSecret, applications: readonly KubeObject[]): RemovalStep {
  const left = applicationsOf(secret, applications);
  const consented = secret.metadata.annotations?.[PRUNE_ANNOTATION] === 'enabled';
  if (left.length === 0 || consented) return { kind: 'remove', consented: left.length > 0 };
  return { kind: 'keep', applications: left };
}

/** On an Application: the ManagedCluster that pulls it in the basic pull model. */
const PULL_CLUSTER_ANNOTATION = 'apps.open-cluster-management.io/ocm-managed-cluster';

/** Names (`namespace/name`) of the Applications that need this cluster Secret, sorted. */
function applicationsOf(
  { name, server }: Pick<KnownSecret, 'name' | 'server'>,
  applications: readonly KubeObject[],
): readonly string[] {
  return applications
    .filter((application) => {
      const { spec } = application as {
        readonly spec?: { readonly destination?: { readonly name?: string; readonly server?: string } };
      };
      const destination = spec?.destination ?? {};
      const pulled = application.metadata.annotations?.[PULL_CLUSTER_ANNOTATION];
      return (
        destination.name === name ||
        (destination.server !== undefined && withoutSlash(destination.server) === server) ||
        pulled === name
      );
    })
    .map(({ metadata }) => namespacedName(metadata))
    .sort();
}
