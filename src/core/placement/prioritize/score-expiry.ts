import type { AddOnPlacementScore } from '../../model/kind/addon-placement-score.ts';
import type { Instant } from '../../model/rfc3339.ts';
import { compareInstants } from '../../model/rfc3339.ts';
import type { ClusterIndex } from '../../snapshot/cluster-index.ts';
import { hasExpired, validUntil } from './addon-score.ts';

/** Finds the scores that expire as time passes; while none can, nothing is checked. */
export class ScoreExpiry {
  readonly #clusterIndex: ClusterIndex;
  /** No score ends before; undefined: to be found out. */
  #next: Instant | undefined;

  constructor(clusterIndex: ClusterIndex) {
    this.#clusterIndex = clusterIndex;
  }

  /** A score of the fleet is new or says something new. */
  note(score: AddOnPlacementScore): void {
    const end = validUntil(score);
    if (end === undefined || this.#next === undefined) return;
    if (compareInstants(end, this.#next) < 0) this.#next = end;
  }

  /** Scores that were valid at one time and are not at the other, later one. */
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
