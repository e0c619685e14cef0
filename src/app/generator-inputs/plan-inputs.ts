import type { ClusterSecret, GeneratorInputs } from '@berth/applicationset/inputs/generator-inputs';
import { apiVersionOf, CONFIG_MAP, type KindInfo, SECRET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { secretTexts } from '@berth/kube/secret-texts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { BerthError, errorText } from '@berth/runtime/errors';
import { DECISIONS_GENERATOR } from '../../../plugin/install/argo-connection.ts';
import type { ApplicationContext } from '../../controllers/previews/plan-applications.ts';
import type { PlanRevisionsInput } from '../../controllers/previews/plan-revisions.ts';
import { APPLICATION_SET } from '../../core/argocd/argocd-kinds.ts';
import { SECRET_TYPE_LABEL } from '../../core/argocd/cluster-secrets/cluster-secret.ts';
import { berthPluginResponses, objectInputs } from './object-inputs.ts';

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

/** The inputs of a plan that are read from Argo CD. */
export type ArgoPart = Pick<PlanRevisionsInput, 'applications' | 'argocdClusters' | 'notes'>;

/** @param onHub the objects of Argo CD on the hub */
export function applicationContext(
  argocdNamespace: string,
  onHub: readonly KubeObject[],
): ApplicationContext {
  return {
    argocdNamespace,
    onHub,
    inputsOf: (snapshot, objects) => planInputs(argocdNamespace, snapshot, objects),
  };
}

const CLUSTER_SECRETS = `${SECRET_TYPE_LABEL}=cluster`;

/**
 * Reads ApplicationSets, ConfigMaps and cluster Secrets. A hub without Argo CD has none. If they cannot be read, a note
 * says so.
 */
export async function readArgoPart(hub: KubeApi, namespace: string): Promise<ArgoPart> {
  try {
    if ((await hub.resolve(apiVersionOf(APPLICATION_SET), APPLICATION_SET.kind)) === undefined)
      return { applications: applicationContext(namespace, []) };
    const [sets, configMaps, secrets] = await Promise.all([
      hub.list(APPLICATION_SET),
      hub.list(CONFIG_MAP, { namespace }),
      hub.list(SECRET, { namespace, labelSelector: CLUSTER_SECRETS }),
    ]);
    const clusters = secrets.items.map((secret) => secretTexts(secret)['name'] ?? secret.metadata.name);
    return {
      applications: applicationContext(namespace, [
        ...named(sets.items, APPLICATION_SET),
        ...named(configMaps.items, CONFIG_MAP),
        ...named(secrets.items, SECRET),
      ]),
      argocdClusters: clusters.length === 0 ? undefined : new Set(clusters),
    };
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const note = `ApplicationSets and clusters of Argo CD on the hub cannot be read, so the plan uses only those in Git: ${errorText(error)}`;
    return { applications: applicationContext(namespace, []), notes: [note] };
  }
}

/** Adds the kind, which items of a list do not have. */
function named(items: readonly KubeObject[], kind: KindInfo): readonly KubeObject[] {
  return items.map((item) => ({ ...item, apiVersion: apiVersionOf(kind), kind: kind.kind }));
}
