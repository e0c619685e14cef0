import { type Instant, compareInstants, epochMsOf, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ClusterIndex } from '../snapshot/cluster-index.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hasExpired, validUntil } from './addon-score.ts';

/** Finds the scores that expire as time passes. It checks nothing while no score can expire. */
export class ScoreExpiry {
  readonly #clusterIndex: ClusterIndex;
  /** No score ends before this time. Undefined if it must be computed. */
  #next: Instant | undefined;

  constructor(clusterIndex: ClusterIndex) {
    this.#clusterIndex = clusterIndex;
  }

  /** Notes a new or changed score of the fleet. */
  note(score: AddOnPlacementScore): void {
    const end = validUntil(score);
    if (end === undefined || this.#next === undefined) return;
    if (compareInstants(end, this.#next) < 0) this.#next = end;
  }

  /** The scores that were valid at `before` and have expired at the later time `now`. */
  between(before: Instant, now: Instant): readonly AddOnPlacementScore[] {
    if (this.#next !== undefined && compareInstants(now, this.#next) <= 0) return [];
    const scores = this.#clusterIndex.scores;
    let next = FOREVER;
    for (const score of scores) {
      const end = validUntil(score);
      if (end !== undefined && compareInstants(end, now) >= 0 && compareInstants(end, next) < 0) next = end;
    }
    this.#next = next;
    return scores.filter((score) => !hasExpired(score, before) && hasExpired(score, now));
  }
}

const FOREVER: Instant = { seconds: Number.MAX_SAFE_INTEGER, nanos: 0 };

type ScoredSnapshot = Pick<Snapshot, 'now' | 'placements' | 'scores'>;

/**
 * When the next score that ranks clusters of a placement expires. No event reports this. The last
 * result stays valid while the lists of the snapshot are the same objects and the score has not
 * expired, so a cycle without a changed score costs nothing.
 */
export class NextScoreExpiry {
  #seen: { readonly snapshot: ScoredSnapshot; readonly expiry: Instant | undefined } | undefined;

  /**
   * @returns the first whole millisecond since the epoch at which a score that is valid now has
   * expired; undefined if none expires
   */
  after(snapshot: ScoredSnapshot): number | undefined {
    const now = parseRfc3339(snapshot.now);
    if (now === undefined) return undefined;
    const expiry = this.#isValid(snapshot, now) ? this.#seen?.expiry : firstExpiry(snapshot, now);
    this.#seen = { snapshot, expiry };
    // A score is still valid at the time of its expiry, see `hasExpired`.
    return expiry === undefined ? undefined : Math.floor(epochMsOf(expiry)) + 1;
  }

  #isValid({ placements, scores }: ScoredSnapshot, at: Instant): boolean {
    if (this.#seen === undefined) return false;
    const { snapshot, expiry } = this.#seen;
    if (snapshot.placements !== placements || snapshot.scores !== scores) return false;
    // If the clock was set back, an expired score may be valid again.
    return !isBefore(at, snapshot.now) && (expiry === undefined || compareInstants(expiry, at) >= 0);
  }
}

function isBefore(at: Instant, time: string): boolean {
  const instant = parseRfc3339(time);
  return instant !== undefined && compareInstants(at, instant) < 0;
}

function firstExpiry({ placements, scores }: ScoredSnapshot, now: Instant): Instant | undefined {
  const used = usedResources(placements);
  if (used.size === 0) return undefined;
  let first: Instant | undefined;
  for (const score of scores) {
    const expiry = used.has(score.metadata.name) ? validUntil(score) : undefined;
    if (expiry === undefined || compareInstants(expiry, now) < 0) continue;
    if (first === undefined || compareInstants(expiry, first) < 0) first = expiry;
  }
  return first;
}

/**
 * Names of the AddOnPlacementScores that rank clusters of a placement. CEL ignores `validUntil`.
 */
function usedResources(
  placements: readonly Placement[],
): ReadonlySet<AddOnPlacementScore['metadata']['name']> {
  const used = new Set<string>();
  for (const { spec } of placements)
    for (const { scoreCoordinate, weight } of spec?.prioritizerPolicy?.configurations ?? [])
      if (scoreCoordinate?.type === 'AddOn' && weight !== 0)
        used.add(scoreCoordinate.addOn?.resourceName ?? '');
  return used;
}

/**
 * Whether the decision depends on AddOnPlacementScores, through a prioritizer or a CEL expression
 * that calls `scores`.
 */
export function usesAddOnScores({ spec }: Placement): boolean {
  const configurations = spec?.prioritizerPolicy?.configurations ?? [];
  if (configurations.some(({ scoreCoordinate }) => scoreCoordinate?.type === 'AddOn')) return true;
  const expressions = (spec?.predicates ?? []).flatMap(
    ({ requiredClusterSelector }) => requiredClusterSelector?.celSelector?.celExpressions ?? [],
  );
  return expressions.some((expression) => /\bscores\s*\(/.test(expression));
}
