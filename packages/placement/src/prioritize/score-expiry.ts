import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { Instant } from '@berth/kube/model/rfc3339';
import { compareInstants } from '@berth/kube/model/rfc3339';
import type { ClusterIndex } from '../snapshot/cluster-index.ts';
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
