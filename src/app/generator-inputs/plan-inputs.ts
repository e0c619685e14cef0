import { DECISIONS_GENERATOR } from '../../../plugin/install/argo-connection.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { GeneratorInputs } from '@berth/applicationset/inputs/generator-inputs';
import { berthPluginResponses } from './berth-plugin-responses.ts';
import { objectInputs } from './object-inputs.ts';
import { snapshotClusters } from './snapshot-clusters.ts';

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
