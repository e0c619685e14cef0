import { setCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { formatNameList } from '@berth/runtime/text/name-list';

/** How Argo CD connects to the clusters of a GitOpsCluster. */
export type ClusterAccess =
  /** With a token of this ManagedServiceAccount. */
  | { readonly kind: 'service-account'; readonly name: string }
  /** With the address and credentials in a Secret in the namespace of the cluster. */
  | { readonly kind: 'given' }
  /** Not at all: Argo CD on the cluster pulls. */
  | { readonly kind: 'blank' }
  /** Through argocd-agent: with the Secret in the cluster's namespace if there is one, otherwise as `blank`. */
  | { readonly kind: 'agent' };

/** The fields of a GitOpsCluster, of either version, that cluster Secrets need. */
export interface GitOpsCluster {
  /** `namespace/name` */
  readonly key: string;
  readonly argocdNamespace: string;
  /** `namespace/name` */
  readonly placement: string;
  readonly access: ClusterAccess;
}

export type GitOpsClusterReading =
  | { readonly ok: true; readonly gitOpsCluster: GitOpsCluster }
  | { readonly ok: false; readonly key: string; readonly problem: string };

interface GitOpsClusterStatus {
  readonly phase?: string | undefined;
  readonly message?: string | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

interface Spec {
  readonly argoServer?: { readonly argoNamespace?: string } | null;
  readonly placementRef?: {
    readonly kind?: string;
    readonly name?: string;
    readonly namespace?: string;
  } | null;
  readonly managedServiceAccountRef?: string;
  readonly createBlankClusterSecrets?: boolean | null;
  readonly argoCDAgentAddon?: object | null;
}

/**
 * Reads a GitOpsCluster. Its fields show the version, because a hub may serve one version under the name of the other.
 * Sources: multicloud-integrations `pkg/apis/apps/v1beta1/gitopscluster_types.go`,
 * argocd-pull-integration `api/v1alpha1/gitopscluster_types.go`.
 */
export function readGitOpsCluster(object: KubeObject): GitOpsClusterReading {
  const key = namespacedName(object.metadata);
  const { namespace = '' } = object.metadata;
  const spec = (object['spec'] ?? {}) as Spec;
  const refuse = (problem: string): GitOpsClusterReading => ({ ok: false, key, problem });
  const isAgent = isForAgent(object);
  const argocdNamespace = isAgent ? namespace : (spec.argoServer?.argoNamespace ?? '');
  if (argocdNamespace === '') return refuse('spec.argoServer.argoNamespace is missing');
  const { kind = 'Placement', name = '', namespace: of = namespace } = spec.placementRef ?? {};
  if (kind !== 'Placement') return refuse(`spec.placementRef.kind is ${kind}, expected Placement`);
  if (name === '') return refuse('spec.placementRef.name is missing');
  if (of !== '' && of !== namespace)
    return refuse(`spec.placementRef.namespace is ${of}, expected ${namespace}, where the GitOpsCluster is`);
  return {
    ok: true,
    gitOpsCluster: {
      key,
      argocdNamespace,
      placement: `${namespace}/${name}`,
      access: isAgent ? { kind: 'agent' } : accessOf(spec),
    },
  };
}

/** Whether it configures the add-on of argocd-agent (v1alpha1). */
function isForAgent(object: KubeObject): boolean {
  const { argoCDAgentAddon } = (object['spec'] ?? {}) as Spec;
  return argoCDAgentAddon !== undefined && argoCDAgentAddon !== null;
}

function accessOf({ managedServiceAccountRef = '', createBlankClusterSecrets }: Spec): ClusterAccess {
  if (createBlankClusterSecrets === true) return { kind: 'blank' };
  return managedServiceAccountRef === ''
    ? { kind: 'given' }
    : { kind: 'service-account', name: managedServiceAccountRef };
}

/** The labels of a ManagedCluster that are copied to its cluster Secret: exact keys, or `prefix*`. */
export type LabelAllowList = readonly string[];

/** Argo CD acts on its own labels, so a cluster must not be able to set them. */
const ARGOCD_PREFIX = 'argocd.argoproj.io/';

/**
 * The labels that may be copied.
 * @param reserved keys that are never copied
 */
export function copiedLabels(
  labels: Readonly<Record<string, string>> = {},
  allowed: LabelAllowList,
  reserved: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const isAllowed = (key: string): boolean =>
    !reserved.has(key) &&
    !key.startsWith(ARGOCD_PREFIX) &&
    allowed.some((pattern) =>
      pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
    );
  return Object.fromEntries(Object.entries(labels).filter(([key]) => isAllowed(key)));
}

/** The result of one pass for a GitOpsCluster. */
export interface RegistrationOutcome {
  /** Undefined if the clusters of its placement are unknown. */
  readonly selected: readonly string[] | undefined;
  /** Names of clusters whose Secret is up to date. */
  readonly registered: readonly string[];
  /** Sentences about failures. */
  readonly problems: readonly string[];
  /** Sentences about Secrets that are kept although their cluster is no longer selected. */
  readonly kept: readonly string[];
}

/**
 * The merge patch of the status, or undefined if nothing changes: `phase` and `message` of v1beta1, conditions of
 * v1alpha1.
 * Conditions of others stay.
 * @param now RFC 3339, seconds
 */
export function statusPatch(
  object: KubeObject,
  outcome: RegistrationOutcome,
  now: string,
): object | undefined {
  const status = (object['status'] ?? {}) as GitOpsClusterStatus;
  if (isForAgent(object)) {
    const before = status.conditions ?? [];
    const next = conditionsOf(outcome).reduce(
      (conditions, condition) => setCondition(conditions, condition, now),
      before,
    );
    return jsonEqual(before, next) ? undefined : { conditions: next };
  }
  const phase = outcome.problems.length === 0 ? 'successful' : 'failed';
  const message = messageOf(outcome);
  if (status.phase === phase && status.message === message) return undefined;
  return { phase, message, lastUpdateTime: now };
}

function conditionsOf({ selected, registered, problems, kept }: RegistrationOutcome): readonly Condition[] {
  const failed = joinSentences(problems);
  const isKnown = selected !== undefined;
  return [
    {
      type: 'PlacementEvaluated',
      status: isKnown ? 'True' : 'False',
      reason: !isKnown ? 'Failed' : selected.length === 0 ? 'NoClusters' : 'Success',
      message: isKnown ? `The placement selects ${selected.length} clusters` : failed,
    },
    {
      type: 'ClustersImported',
      status: problems.length === 0 ? 'True' : 'False',
      reason: problems.length === 0 ? 'Success' : 'Failed',
      message: problems.length === 0 ? `${registered.length} clusters are registered in Argo CD` : failed,
    },
    {
      type: 'RemovedClustersCleanedUp',
      status: kept.length === 0 ? 'True' : 'False',
      reason: kept.length === 0 ? 'Success' : 'InProgress',
      message: kept.length === 0 ? 'No cluster waits for its removal' : joinSentences(kept),
    },
  ];
}

function messageOf({ registered, problems, kept }: RegistrationOutcome): string {
  const names = registered.length === 0 ? 'no cluster' : formatNameList([...registered].sort());
  return joinSentences([`Registered in Argo CD: ${names}`, ...problems, ...kept]);
}

const MAX_SENTENCES = 10;

function joinSentences(sentences: readonly string[]): string {
  const more = sentences.length - MAX_SENTENCES;
  return [...sentences.slice(0, MAX_SENTENCES), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
