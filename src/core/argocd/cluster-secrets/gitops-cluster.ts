import type { Condition, KubeObject } from '../../model/object-meta.ts';
import { namespacedName } from '../../model/object-ref.ts';

/** How the clusters of a GitOpsCluster are reached by Argo CD. */
export type ClusterAccess =
  /** By a token of this ManagedServiceAccount. */
  | { readonly kind: 'service-account'; readonly name: string }
  /** By what a Secret in the namespace of the cluster says. */
  | { readonly kind: 'given' }
  /** Not at all: Argo CD on the cluster pulls. */
  | { readonly kind: 'blank' }
  /** Through the agent of argocd-agent: with a given Secret, else as `blank`. */
  | { readonly kind: 'agent' };

/** A GitOpsCluster, of either version, as far as cluster secrets are concerned. */
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
 * Reads a GitOpsCluster. Its shape says which of the two it is, because a hub may serve one version under the name of the other.
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
