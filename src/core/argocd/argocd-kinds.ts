import { kind, type KindInfo } from '../model/kinds.ts';

const ARGOCD = 'argoproj.io';
const APPS = 'apps.open-cluster-management.io';

export const APPLICATION_SET = kind(ARGOCD, 'v1alpha1', 'ApplicationSet', 'Namespaced');
export const APPLICATION = kind(ARGOCD, 'v1alpha1', 'Application', 'Namespaced');
export const APP_PROJECT = kind(ARGOCD, 'v1alpha1', 'AppProject', 'Namespaced');

/** OCM's summary of the Applications of one ApplicationSet (open-cluster-management-io/multicloud-integrations). */
export const APPLICATION_SET_REPORT = kind(
  APPS,
  'v1alpha1',
  'MulticlusterApplicationSetReport',
  'Namespaced',
);

/** Push: open-cluster-management-io/multicloud-integrations. */
const GITOPS_CLUSTER_V1BETA1 = kind(APPS, 'v1beta1', 'GitOpsCluster', 'Namespaced');
/** Agent: open-cluster-management-io/argocd-pull-integration. The same name, another shape. */
const GITOPS_CLUSTER_V1ALPHA1 = kind(APPS, 'v1alpha1', 'GitOpsCluster', 'Namespaced');

/** A hub serves one of them, or both. An object that both show is read in the first. */
export const GITOPS_CLUSTERS: readonly KindInfo[] = [GITOPS_CLUSTER_V1BETA1, GITOPS_CLUSTER_V1ALPHA1];

export const MANAGED_SERVICE_ACCOUNT = kind(
  'authentication.open-cluster-management.io',
  'v1beta1',
  'ManagedServiceAccount',
  'Namespaced',
);
