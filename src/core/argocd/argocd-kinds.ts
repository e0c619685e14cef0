import { kind, type KindInfo } from '@berth/kube/model/kinds';

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

/** For the push model: open-cluster-management-io/multicloud-integrations. */
export const GITOPS_CLUSTER_V1BETA1 = kind(APPS, 'v1beta1', 'GitOpsCluster', 'Namespaced');
/** For argocd-agent: open-cluster-management-io/argocd-pull-integration. It has the same name and another schema. */
const GITOPS_CLUSTER_V1ALPHA1 = kind(APPS, 'v1alpha1', 'GitOpsCluster', 'Namespaced');

/** A hub serves one of them or both. If both show an object, the first one is read. */
export const GITOPS_CLUSTERS: readonly KindInfo[] = [GITOPS_CLUSTER_V1BETA1, GITOPS_CLUSTER_V1ALPHA1];

export const MANAGED_SERVICE_ACCOUNT = kind(
  'authentication.open-cluster-management.io',
  'v1beta1',
  'ManagedServiceAccount',
  'Namespaced',
);
