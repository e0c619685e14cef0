import {
  isObject,
  listAt,
  objectAt,
  textAt,
  type JsonObject,
  type JsonValue,
} from '@berth/runtime/json/json-value';
import { CLUSTER_SET_LABEL } from '../kind/managed-cluster.ts';
import type { OcmRefusal, OcmWrite } from './ocm-write.ts';

/** The set of a cluster that names none. */
export const DEFAULT_SET = 'default';

export type CompletedCluster =
  /** The same object as in the write if nothing had to be added. */
  | { readonly kind: 'completed'; readonly object: JsonObject }
  | { readonly kind: 'refused'; readonly refusal: OcmRefusal };

/**
 * Adds to a ManagedCluster the times of its taints, and the default set if it names none. Source:
 * open-cluster-management.io/ocm `pkg/registration/webhook/v1/managedcluster_mutating.go`, with its
 * feature gate DefaultClusterSet on, which is its default.
 *
 * @param now RFC 3339
 */
export function completeCluster(
  write: Pick<OcmWrite, 'operation' | 'object' | 'old'>,
  now: string,
): CompletedCluster {
  const stamped = stampTaints(write, now);
  return stamped.kind === 'refused' ? stamped : { kind: 'completed', object: withDefaultSet(stamped.object) };
}

function withDefaultSet(cluster: JsonObject): JsonObject {
  const metadata = objectAt(cluster, 'metadata') ?? {};
  const labels = metadata['labels'] ?? {};
  // Labels of another type are for the validation to refuse.
  if (!isObject(labels) || textAt(labels, CLUSTER_SET_LABEL) !== '') return cluster;
  return {
    ...cluster,
    metadata: { ...metadata, labels: { ...labels, [CLUSTER_SET_LABEL]: DEFAULT_SET } },
  };
}

/**
 * The server sets the time of a taint: new and changed taints get the current time, even if a
 * create sends another one. An update must send unchanged taints with their time, and all others
 * without one. A taint without a time gets it with the next write.
 */
function stampTaints(
  { operation, object, old }: Pick<OcmWrite, 'operation' | 'object' | 'old'>,
  now: string,
): CompletedCluster {
  const spec = objectAt(object, 'spec');
  const sent = listAt(spec, 'taints');
  if (spec === undefined || sent.length === 0) return { kind: 'completed', object };
  const before = listAt(objectAt(old, 'spec'), 'taints').filter(isObject);
  const refused: string[] = [];
  const taints = sent.map((taint): JsonValue => {
    if (!isObject(taint)) return taint;
    const known = before.find((one) => one['key'] === taint['key']);
    const isSame = known?.['value'] === taint['value'] && known?.['effect'] === taint['effect'];
    const time = known !== undefined && isSame ? textAt(known, 'timeAdded') : '';
    if (operation === 'CREATE') return { ...taint, timeAdded: now };
    const sentTime = textAt(taint, 'timeAdded');
    if (time !== '') {
      if (sentTime !== time) refused.push(textAt(taint, 'key'));
      return taint;
    }
    // The current time was added by an earlier rule in the same write.
    const isUnstamped = known !== undefined && isSame;
    if (!isUnstamped && sentTime !== '' && sentTime !== now) refused.push(textAt(taint, 'key'));
    return { ...taint, timeAdded: now };
  });
  if (refused.length > 0) {
    const message = `It is not allowed to set TimeAdded of Taint "${refused.join(',')}".`;
    return { kind: 'refused', refusal: { kind: 'bad-request', message } };
  }
  return { kind: 'completed', object: { ...object, spec: { ...spec, taints } } };
}
