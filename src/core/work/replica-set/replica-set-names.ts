import { labelValueProblem } from '@berth/kube/model/selector/label-syntax';
import type { ObjectMeta } from '@berth/kube/model/object-meta';

/** Longest name of a ManifestWork: the AppliedManifestWork's name puts a hash of 64 characters and a dash in front. */
export const MAX_WORK_NAME_LENGTH = 188;

/**
 * Value of the label that links a ManifestWork to its ManifestWorkReplicaSet: `namespace.name` as
 * upstream, or a shortened form with a hash if that is not a valid label value (an error upstream).
 * Do not parse it; look it up.
 */
export function ownerLabelValue(replicaSet: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  const plain = `${replicaSet.namespace ?? ''}.${replicaSet.name}`;
  if (labelValueProblem(plain) === undefined) return plain;
  return `${plain.slice(0, 46).replace(/[^A-Za-z0-9]+$/, '')}-${hashText(plain)}`;
}

/**
 * Name of the work of one replica set and placement in a cluster's namespace. Derived, not generated: two passes over
 * old state cannot make two works, and two placements that choose the same cluster have a work each.
 */
export function childWorkName(
  replicaSet: Pick<ObjectMeta, 'namespace' | 'name'>,
  placement: string,
  part: number,
): string {
  const hash = hashText(`${replicaSet.namespace ?? ''}/${replicaSet.name}/${placement}`);
  const suffix = part === 0 ? `-${hash}` : `-${hash}-${part}`;
  const room = MAX_WORK_NAME_LENGTH - suffix.length;
  return `${replicaSet.name.slice(0, room).replace(/[^a-z0-9]+$/, '')}${suffix}`;
}

/** 64 bits of FNV-1a over UTF-16 units in two lanes, base 36. Not cryptographic: it only keeps names apart. */
export function hashText(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01234567;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ (unit + at), 0x85ebca6b) ^ (b >>> 13);
  }
  return ((a >>> 0) * 0x200000 + ((b >>> 0) & 0x1fffff)).toString(36).padStart(11, '0');
}
