import type { Taint } from '@berth/ocm/kind/managed-cluster';
import type { Toleration } from '@berth/ocm/kind/placement';
import type { Instant } from '@berth/kube/model/rfc3339';
import { compareInstants } from '@berth/kube/model/rfc3339';
import type { Bitset } from '../snapshot/bitset.ts';
import { hasBit, makeFullBitset, putBit } from '../snapshot/bitset.ts';
import type { ClusterIndex } from '../snapshot/cluster-index.ts';
import type { FilterClass } from './filter-class.ts';
import {
  judgeTaint,
  matchTolerations,
  tolerationEnd,
  tolerationProblem,
  toleratesTaint,
} from './taint-rules.ts';

/**
 * The clusters that tolerations let pass. All placements with the same tolerations share one class.
 * `passNew` has the clusters that pass if the placement has not selected them, and `passDecided`
 * those that pass if it has (they differ because of NoSelectIfNew). `avoided` has the clusters with
 * a PreferNoSelect taint that no toleration matches.
 */
export class TolerationClass implements FilterClass {
  readonly tolerations: readonly Toleration[];
  /** The error of the first invalid toleration, with the text of OCM. */
  readonly problem: string | undefined;
  /** Whether a toleration has tolerationSeconds. Then the result depends on time. */
  readonly timed: boolean;
  readonly passNew: Bitset;
  readonly passDecided: Bitset;
  readonly avoided: Bitset;
  /** Clusters with a taint that a toleration matches for a limited time. */
  readonly timedClusters = new Set<number>();
  /** The next time at which a verdict changes without a change of an object. */
  #nextChange: Instant | undefined;

  constructor(tolerations: readonly Toleration[], clusterIndex: ClusterIndex, now: Instant) {
    this.tolerations = tolerations;
    this.problem = tolerations.map(tolerationProblem).find((problem) => problem !== undefined);
    this.timed = tolerations.some((toleration) => toleration.tolerationSeconds !== undefined);
    this.passNew = makeFullBitset(clusterIndex.size);
    this.passDecided = makeFullBitset(clusterIndex.size);
    this.avoided = makeFullBitset(clusterIndex.size).fill(0);
    for (let i = 0; i < clusterIndex.size; i++) {
      const taints = clusterIndex.cluster(i).spec?.taints;
      if (taints !== undefined && taints.length > 0) this.refresh(i, taints, now);
    }
  }

  /** Judges one cluster again. Returns true if its result changed. */
  refresh(cluster: number, taints: readonly Taint[], now: Instant): boolean {
    let [passNew, passDecided, avoided] = [true, true, false];
    if (this.timed) this.#noteTimed(cluster, taints);
    for (const taint of taints) {
      if (this.timed) this.#noteChanges(taint, now);
      if (taint.effect === 'PreferNoSelect') {
        avoided ||= matchTolerations(taint, this.tolerations, now).verdict !== 'tolerated';
        continue;
      }
      const { verdict } = judgeTaint(taint, this.tolerations, { now, decided: false });
      if (verdict === 'tolerated') continue;
      passNew = false;
      if (taint.effect !== 'NoSelectIfNew') passDecided = false;
    }
    const changed =
      hasBit(this.passNew, cluster) !== passNew ||
      hasBit(this.passDecided, cluster) !== passDecided ||
      hasBit(this.avoided, cluster) !== avoided;
    putBit(this.passNew, cluster, passNew);
    putBit(this.passDecided, cluster, passDecided);
    putBit(this.avoided, cluster, avoided);
    return changed;
  }

  /**
   * Judges all clusters again if the clock has reached the next change.
   * @returns the clusters whose result changed
   */
  advance(clusterIndex: ClusterIndex, now: Instant): number[] {
    if (this.#nextChange === undefined || compareInstants(now, this.#nextChange) < 0) return [];
    this.#nextChange = undefined;
    const changed: number[] = [];
    for (let i = 0; i < clusterIndex.size; i++) {
      const taints = clusterIndex.cluster(i).spec?.taints;
      if (taints !== undefined && taints.length > 0 && this.refresh(i, taints, now)) changed.push(i);
    }
    return changed;
  }

  #noteTimed(cluster: number, taints: readonly Taint[]): void {
    const isTimed = this.tolerations.some(
      (one) => one.tolerationSeconds !== undefined && taints.some((taint) => toleratesTaint(one, taint)),
    );
    if (isTimed) this.timedClusters.add(cluster);
    else this.timedClusters.delete(cluster);
  }

  #noteChanges(taint: Taint, now: Instant): void {
    for (const toleration of this.tolerations) {
      if (toleration.tolerationSeconds === undefined || !toleratesTaint(toleration, taint)) continue;
      const end = tolerationEnd(toleration, taint);
      if (end === undefined || compareInstants(end, now) <= 0) continue;
      if (this.#nextChange === undefined || compareInstants(end, this.#nextChange) < 0)
        this.#nextChange = end;
    }
  }
}
