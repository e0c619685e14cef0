import type { GeneratorInputs, ClusterSecret } from '@berth/applicationset/inputs/generator-inputs';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { DECISIONS_GENERATOR } from '../../../plugin/install/argo-connection.ts';
import { SECRET_TYPE_LABEL } from '../../core/argocd/cluster-secrets/cluster-secret.ts';
import { berthPluginResponses } from './berth-plugin-responses.ts';
import { objectInputs } from './object-inputs.ts';

/**
 * Default ConfigMaps of both generators, since Argo CD's own, with its token, is usually not in a
 * repository.
 */
const USUAL_CONFIG_MAP = { ...DECISIONS_GENERATOR, baseUrl: 'http://berth', token: '$berth.token' };

/**
 * The generator inputs for the decisions of a snapshot. Argo CD knows all clusters, unless cluster
 * Secrets define them.
 */
export function planInputs(
  namespace: string,
  snapshot: Snapshot,
  objects: readonly KubeObject[],
): GeneratorInputs {
  return objectInputs({
    namespace,
    objects: [...objects, ...(snapshot.decisions as unknown as readonly KubeObject[])],
    clusters: snapshotClusters(snapshot),
    missingConfigMap: USUAL_CONFIG_MAP,
    missingSecret: {},
    callPlugin: berthPluginResponses(snapshot),
  });
}

/** Both sides of a plan, and consecutive plans, share most clusters. */
const SECRETS = new WeakMap<ManagedCluster, ClusterSecret>();

/** The cluster Secrets that Argo CD would have for the clusters of a snapshot: name, address and labels. */
function snapshotClusters({ clusters }: Snapshot): readonly ClusterSecret[] {
  return clusters.map((cluster) => {
    let secret = SECRETS.get(cluster);
    if (secret === undefined) SECRETS.set(cluster, (secret = secretOf(cluster)));
    return secret;
  });
}

function secretOf({ metadata, spec }: ManagedCluster): ClusterSecret {
  return {
    secretName: `${metadata.name}-cluster-secret`,
    name: metadata.name,
    server: spec?.managedClusterClientConfigs?.[0]?.url ?? '',
    labels: { ...metadata.labels, [SECRET_TYPE_LABEL]: 'cluster' },
  };
}
