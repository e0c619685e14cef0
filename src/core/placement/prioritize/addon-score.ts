import type { AddOnPlacementScore } from '../../model/kind/addon-placement-score.ts';
import type { Instant } from '../../model/rfc3339.ts';
import { compareInstants, parseRfc3339 } from '../../model/rfc3339.ts';
import type { Prioritizer } from './prioritizer.ts';

/** The score that an add-on reported for the cluster; 0 when there is none or it is no longer valid. */
export function addOnScore(resourceName: string, scoreName: string): Prioritizer {
  return {
    name: `AddOn/${resourceName}/${scoreName}`,
    addOn: resourceName,
    score({ addOnScore: find, nameOf, clusters, now }, out) {
      const expired: string[] = [];
      for (let i = 0; i < clusters.length; i++) {
        const cluster = clusters[i] as number;
        const object = find(cluster, resourceName);
        const isExpired = object !== undefined && hasExpired(object, now);
        if (isExpired) expired.push(`${nameOf(cluster)}/${resourceName}`);
        out[i] = object === undefined || isExpired ? 0 : valueOf(object, scoreName);
      }
      return expired;
    },
  };
}

export function hasExpired(object: AddOnPlacementScore, now: Instant): boolean {
  const end = validUntil(object);
  return end !== undefined && compareInstants(end, now) < 0;
}

/** When the scores end; undefined: never. Each object's text is parsed once. */
export function validUntil(object: AddOnPlacementScore): Instant | undefined {
  const text = object.status?.validUntil ?? '';
  if (text === '') return undefined;
  let end = ENDS.get(object);
  if (end === undefined) ENDS.set(object, (end = { at: parseRfc3339(text) }));
  return end.at;
}

const ENDS = new WeakMap<AddOnPlacementScore, { readonly at: Instant | undefined }>();

function valueOf({ status }: AddOnPlacementScore, scoreName: string): number {
  return status?.scores?.findLast((score) => score.name === scoreName)?.value ?? 0;
}
