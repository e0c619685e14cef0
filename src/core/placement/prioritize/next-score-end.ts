import type { AddOnPlacementScore } from '../../model/kind/addon-placement-score.ts';
import type { Placement } from '../../model/kind/placement.ts';
import type { Instant } from '../../model/rfc3339.ts';
import { compareInstants, epochMsOf, parseRfc3339 } from '../../model/rfc3339.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import { validUntil } from './addon-score.ts';

type ScoredSnapshot = Pick<Snapshot, 'now' | 'placements' | 'scores'>;

/**
 * When the next score that ranks clusters of a placement expires. No event reports this. The last
 * answer stays valid while the lists of the snapshot are the same objects and its time has not
 * come, so a pass without a changed score costs nothing.
 */
export class NextScoreEnd {
  #seen: { readonly snapshot: ScoredSnapshot; readonly end: Instant | undefined } | undefined;

  /**
   * @returns the first whole millisecond since the epoch at which a score that is valid now has
   * expired; undefined if none expires
   */
  after(snapshot: ScoredSnapshot): number | undefined {
    const now = parseRfc3339(snapshot.now);
    if (now === undefined) return undefined;
    const end = this.#holds(snapshot, now) ? this.#seen?.end : firstEnd(snapshot, now);
    this.#seen = { snapshot, end };
    // A score is still valid at the time of its end, see `hasExpired`.
    return end === undefined ? undefined : Math.floor(epochMsOf(end)) + 1;
  }

  #holds({ now, placements, scores }: ScoredSnapshot, at: Instant): boolean {
    if (this.#seen === undefined) return false;
    const { snapshot, end } = this.#seen;
    if (snapshot.placements !== placements || snapshot.scores !== scores) return false;
    // If the clock was set back, an expired score may be valid again.
    return now >= snapshot.now && (end === undefined || compareInstants(end, at) >= 0);
  }
}

function firstEnd({ placements, scores }: ScoredSnapshot, now: Instant): Instant | undefined {
  const used = usedResources(placements);
  if (used.size === 0) return undefined;
  let first: Instant | undefined;
  for (const score of scores) {
    const end = used.has(score.metadata.name) ? validUntil(score) : undefined;
    if (end === undefined || compareInstants(end, now) < 0) continue;
    if (first === undefined || compareInstants(end, first) < 0) first = end;
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
