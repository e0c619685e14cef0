import { SECRET_TYPE_LABEL } from '../../core/argocd/cluster-secrets/cluster-secret.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { ClusterSecret } from '@berth/applicationset/inputs/generator-inputs';

/** The cluster Secrets that Argo CD would have for the clusters of a snapshot: name, address and labels. */
export function snapshotClusters({ clusters }: Snapshot): readonly ClusterSecret[] {
  return clusters.map((cluster) => {
    let secret = SECRETS.get(cluster);
    if (secret === undefined) SECRETS.set(cluster, (secret = secretOf(cluster)));
    return secret;
  });
}

/** Both sides of a plan, and consecutive plans, share most clusters. */
const SECRETS = new WeakMap<ManagedCluster, ClusterSecret>();

function secretOf({ metadata, spec }: ManagedCluster): ClusterSecret {
  return {
    secretName: `${metadata.name}-cluster-secret`,
    name: metadata.name,
    server: spec?.managedClusterClientConfigs?.[0]?.url ?? '',
    labels: { ...metadata.labels, [SECRET_TYPE_LABEL]: 'cluster' },
  };
}
