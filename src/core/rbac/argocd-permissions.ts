import {
  APPLICATION,
  APPLICATION_SET,
  APPLICATION_SET_REPORT,
  GITOPS_CLUSTER_V1BETA1,
  MANAGED_SERVICE_ACCOUNT,
} from '../argocd/argocd-kinds.ts';
import { CONFIG_MAP, MANIFEST_WORK, SECRET } from '@berth/kube/model/kinds';
import { grant, type Permission } from './permission.ts';

/** Needed with `--argocd-refresh`. */
export const ARGOCD_REFRESH: readonly Permission[] = grant(
  [APPLICATION_SET],
  ['list', 'watch', 'patch'],
  'list, watch: Berth finds the ApplicationSets that use a decision; patch: it asks Argo CD to refresh them, by an annotation.',
);

/** Needed with `--argocd-refresh` or `--argocd-waves`, in the namespace of Argo CD. */
export const ARGOCD_CONFIG_MAPS: readonly Permission[] = grant(
  [CONFIG_MAP],
  ['list', 'watch'],
  'list, watch: Berth reads which generators ask Berth or list PlacementDecisions.',
);

/** Needed with `--argocd-waves`. */
export const ARGOCD_WAVES: readonly Permission[] = [
  ...grant(
    [APPLICATION_SET],
    ['list', 'watch', 'patch'],
    'list, watch: Berth finds the ApplicationSets that are served in waves; patch: it writes the waves on them, as an annotation.',
  ),
  ...grant(
    [APPLICATION],
    ['list', 'watch'],
    'list, watch: Berth reads whether the Applications of a wave are healthy.',
  ),
];

/** Needed with `--argocd-cluster-secrets`. A right covers all versions of GitOpsCluster. */
export const ARGOCD_CLUSTERS: readonly Permission[] = [
  ...grant(
    [GITOPS_CLUSTER_V1BETA1],
    ['list', 'watch'],
    'list, watch: Berth registers the clusters that the placement of each GitOpsCluster selects.',
  ),
  ...grant(
    [GITOPS_CLUSTER_V1BETA1],
    ['patch'],
    'patch: Berth writes the status of GitOpsClusters.',
    'status',
  ),
  ...grant(
    [APPLICATION],
    ['list'],
    'list: Berth removes the Secret of a cluster only when no Application needs it.',
  ),
  ...grant(
    [MANAGED_SERVICE_ACCOUNT],
    ['list', 'watch'],
    'list, watch: Berth learns of new tokens of ManagedServiceAccounts.',
  ),
];

/** Needed with `--argocd-cluster-secrets`, in the namespace of Argo CD. */
export const ARGOCD_SECRETS: readonly Permission[] = grant(
  [SECRET],
  ['list', 'watch', 'create', 'patch', 'delete'],
  'list, watch: Berth reads which clusters Argo CD knows; create, patch, delete: it writes the Secrets of clusters, and only its own.',
);

/** Needed with `--argocd-cluster-secrets`, where Argo CD reaches clusters by tokens or given Secrets. */
export const ARGOCD_CREDENTIALS: readonly Permission[] = grant(
  [SECRET],
  ['get'],
  'get: Berth reads the token of a ManagedServiceAccount, or the Secret CLUSTER-cluster-secret, in the namespace of a cluster.',
);

/** Needed with `--argocd-pull`. */
export const ARGOCD_PULL: readonly Permission[] = [
  ...grant(
    [APPLICATION],
    ['get', 'list', 'watch', 'patch'],
    'list, watch: Berth brings Applications to the clusters that pull them; get: it reads one again before it removes its work; patch: it writes their status, and takes the finalizer and an operation away that a cluster has finished.',
  ),
  ...grant(
    [MANIFEST_WORK],
    ['get', 'create', 'update', 'delete'],
    'create, update, delete: Berth writes the ManifestWorks that carry Applications; get: it reads the owner of a ManifestWork that exists already.',
  ),
  ...grant(
    [APPLICATION_SET_REPORT],
    ['get', 'create', 'patch', 'delete'],
    'get, create, patch, delete: Berth writes a report for each ApplicationSet with such Applications, where the hub has the kind.',
  ),
];
