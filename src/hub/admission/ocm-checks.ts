import type { AdmissionCheck, AdmissionWrite } from '../write/write-request.ts';
import { isWriteOf } from './ocm/is-write-of.ts';
import { reviewManagedCluster, stampTaints } from './ocm/managed-cluster-check.ts';
import { reviewSetBinding } from './ocm/set-binding-check.ts';

const CLUSTER_GROUP = 'cluster.open-cluster-management.io';

const managedClusterCheck: AdmissionCheck = Object.assign(
  (write: AdmissionWrite) =>
    isWriteOf(write, CLUSTER_GROUP, 'managedclusters') ? reviewManagedCluster(write) : [],
  {
    mutate: (write: AdmissionWrite, now: string) =>
      isWriteOf(write, CLUSTER_GROUP, 'managedclusters') ? stampTaints(write, now) : write.object,
  },
);

const setBindingCheck: AdmissionCheck = (write) =>
  isWriteOf(write, CLUSTER_GROUP, 'managedclustersetbindings') ? reviewSetBinding(write) : [];

/** OCM's own rules about clusters and sets, which a real hub keeps in webhooks. For the content of works see `manifestWorkCheck`. */
export const ocmChecks: readonly AdmissionCheck[] = [managedClusterCheck, setBindingCheck];
