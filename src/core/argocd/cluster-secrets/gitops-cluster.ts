import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';

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

export interface GitOpsClusterStatus {
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
export function isForAgent(object: KubeObject): boolean {
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
