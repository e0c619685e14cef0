import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import { compareInstants, type Instant, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { MissingScores } from './missing-scores.ts';
import type { Prioritizer, ScoreOrigin } from './prioritizer.ts';

/**
 * What counts if a cluster has no valid score. The weight matters because a negative weight makes
 * the highest score the worst.
 */
export interface MissingScoreRule {
  readonly rule: MissingScores;
  readonly weight: number;
}

/** The behavior of OCM: the score is 0. */
const NEUTRAL: MissingScoreRule = { rule: 'neutral', weight: 1 };

/**
 * The score that an add-on reported for the cluster. If there is no valid score, the rule decides.
 */
export function addOnScore(
  resourceName: string,
  scoreName: string,
  { rule, weight }: MissingScoreRule = NEUTRAL,
): Prioritizer {
  const substitute = rule === 'worst' ? -100 * Math.sign(weight) : 0;
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
        const value = isExpired && rule !== 'last' ? undefined : object && valueOf(object, scoreName);
        out[i] = value ?? substitute;
      }
      return expired;
    },
    originOf: (object, now) => originOf(object, { scoreName, rule, now }),
  };
}

function originOf(
  object: AddOnPlacementScore | undefined,
  {
    scoreName,
    rule,
    now,
  }: { readonly scoreName: string; readonly rule: MissingScores; readonly now: Instant },
): ScoreOrigin {
  if (object === undefined) return { kind: 'no-object', rule };
  const reported = valueOf(object, scoreName);
  if (reported === undefined) return { kind: 'no-value', rule };
  const end = validUntil(object) === undefined ? {} : { validUntil: object.status?.validUntil ?? '' };
  return hasExpired(object, now) ? { kind: 'expired', rule, reported, ...end } : { kind: 'valid', ...end };
}

export function hasExpired(object: AddOnPlacementScore, now: Instant): boolean {
  const end = validUntil(object);
  return end !== undefined && compareInstants(end, now) < 0;
}

/** When the scores expire; undefined if never. The text of each object is parsed once. */
export function validUntil(object: AddOnPlacementScore): Instant | undefined {
  const text = object.status?.validUntil ?? '';
  if (text === '') return undefined;
  let end = ENDS.get(object);
  if (end === undefined) ENDS.set(object, (end = { at: parseRfc3339(text) }));
  return end.at;
}

const ENDS = new WeakMap<AddOnPlacementScore, { readonly at: Instant | undefined }>();

function valueOf({ status }: AddOnPlacementScore, scoreName: string): number | undefined {
  return status?.scores?.findLast((score) => score.name === scoreName)?.value;
}
