import type { AddOnPlacementScore } from '../../model/addon-placement-score.ts';
import type { Instant } from '../../model/rfc3339.ts';
import { compareInstants, parseRfc3339 } from '../../model/rfc3339.ts';
import type { Prioritizer } from './prioritizer.ts';

/** The score that an add-on reported for the cluster; 0 when there is none or it is no longer valid. */
export function addOnScore(resourceName: string, scoreName: string): Prioritizer {
  return {
    name: `AddOn/${resourceName}/${scoreName}`,
    readsDecisions: false,
    addOn: resourceName,
    score({ addOnScore: find, nameOf, clusters, now }, out) {
      const expired: string[] = [];
      for (let i = 0; i < clusters.length; i++) {
        const cluster = clusters[i] as number;
        const object = find(cluster, resourceName);
        if (object !== undefined && hasExpired(object, now))
          expired.push(`${nameOf(cluster)}/${resourceName}`);
        out[i] = readScore(object, scoreName, now);
      }
      return expired;
    },
  };
}

export function hasExpired(object: AddOnPlacementScore, now: Instant): boolean {
  const validUntil = parseRfc3339(object.status?.validUntil ?? '');
  return validUntil !== undefined && compareInstants(validUntil, now) < 0;
}

function readScore(object: AddOnPlacementScore | undefined, scoreName: string, now: Instant): number {
  if (object === undefined || hasExpired(object, now)) return 0;
  return object.status?.scores?.findLast((score) => score.name === scoreName)?.value ?? 0;
}
