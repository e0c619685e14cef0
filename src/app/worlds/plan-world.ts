import { DECISIONS_GENERATOR } from '../../../plugin/install/argo-connection.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import type { Snapshot } from '../../core/snapshot/snapshot.ts';
import type { World } from '../../render/applicationset/world/world.ts';
import { berthAnswers } from './berth-answers.ts';
import { objectWorld } from './object-world.ts';
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
export function planWorld(namespace: string, snapshot: Snapshot, objects: readonly KubeObject[]): World {
  return objectWorld({
    namespace,
    objects: [...objects, ...(snapshot.decisions as unknown as readonly KubeObject[])],
    clusters: snapshotClusters(snapshot),
    missingConfigMap: USUAL_CONFIG_MAP,
    missingSecret: {},
    askPlugin: berthAnswers(snapshot),
  });
}
