import {
  type Instant,
  compareInstants,
  addSeconds,
  epochMsOf,
  parseRfc3339,
} from '@berth/kube/model/rfc3339';
import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { Placement, Toleration } from '@berth/ocm/kind/placement';
import { oncePerList } from '@berth/runtime/lists/once-per-list';
import { type Bitset, hasBit, makeFullBitset, putBit } from '../snapshot/bitset.ts';
import type { ClusterIndex } from '../snapshot/cluster-index.ts';
import type { FilterClass } from './eligibility.ts';

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

/** The error of an invalid toleration, with the text of OCM; undefined if it is valid. */
export function tolerationProblem(toleration: Toleration): string | undefined {
  const { key = '', operator = '', value = '' } = toleration;
  if (key === '' && operator !== 'Exists') return 'If the key is empty, operator must be Exists.';
  if (operator === 'Exists' && value !== '') return 'If the operator is Exists, the value should be empty.';
  return undefined;
}

/** Whether the toleration matches this taint. Its time limit is ignored. */
export function toleratesTaint(toleration: Toleration, taint: Taint): boolean {
  const { effect = '', key = '', operator = '', value = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '');
}

/** The zero time of Go. An absent `timeAdded` counts as this time. */
const ZERO_TIME: Instant = { seconds: -62_135_596_800, nanos: 0 };

/** The time at which a toleration stops tolerating a taint; undefined if it never does. */
export function tolerationEnd(toleration: Toleration, taint: Taint): Instant | undefined {
  if (toleration.tolerationSeconds === undefined) return undefined;
  const added = parseRfc3339(taint.timeAdded ?? '') ?? ZERO_TIME;
  return addSeconds(added, toleration.tolerationSeconds);
}

/** What one taint means for one placement at one time. */
type TaintVerdict =
  | { readonly verdict: 'prefer-only' | 'already-decided' | 'refused' }
  /** A toleration matches, but it ended at `until`. */
  | { readonly verdict: 'expired'; readonly toleration: Toleration; readonly until: Instant }
  | { readonly verdict: 'tolerated'; readonly toleration: Toleration; readonly until: Instant | undefined };

/**
 * Judges one taint. The first matching toleration that has not ended counts. PreferNoSelect never
 * refuses a cluster.
 */
export function judgeTaint(
  taint: Taint,
  tolerations: readonly Toleration[],
  at: { readonly now: Instant; readonly decided: boolean },
): TaintVerdict {
  if (taint.effect === 'PreferNoSelect') return { verdict: 'prefer-only' };
  if (taint.effect === 'NoSelectIfNew' && at.decided) return { verdict: 'already-decided' };
  return matchTolerations(taint, tolerations, at.now);
}

/** Judges a taint only by the tolerations. Its effect is ignored. */
export function matchTolerations(
  taint: Taint,
  tolerations: readonly Toleration[],
  now: Instant,
): TaintVerdict {
  let expired: TaintVerdict | undefined;
  for (const toleration of tolerations) {
    if (!toleratesTaint(toleration, taint)) continue;
    const until = tolerationEnd(toleration, taint);
    if (until === undefined || compareInstants(now, until) < 0)
      return { verdict: 'tolerated', toleration, until };
    expired = { verdict: 'expired', toleration, until };
  }
  return expired ?? { verdict: 'refused' };
}

const clustersByName = oncePerList(
  (clusters: readonly ManagedCluster[]) =>
    new Map(clusters.map((cluster) => [cluster.metadata.name, cluster])),
);

/**
 * When a decision must be made again because a toleration ends, in milliseconds since the epoch; Infinity: never. Its
 * `requeueAtMs` counts, as in OCM, only clusters that are published. A decision that is held selects others as well.
 */
export function toleratedUntilMs(
  decision: {
    readonly placement: Placement;
    readonly selected: readonly string[];
    readonly requeueAtMs: number | undefined;
  },
  { now, clusters }: { readonly now: string; readonly clusters: readonly ManagedCluster[] },
): number {
  const { placement, selected, requeueAtMs: first = Infinity } = decision;
  const { tolerations = [] } = placement.spec ?? {};
  const at = parseRfc3339(now);
  if (at === undefined || !tolerations.some(({ tolerationSeconds }) => tolerationSeconds !== undefined))
    return first;
  const known = clustersByName(clusters);
  const ends = selected.flatMap((name) =>
    (known.get(name)?.spec?.taints ?? []).flatMap((taint) => {
      const judged = judgeTaint(taint, tolerations, { now: at, decided: false });
      return judged.verdict === 'tolerated' && judged.until !== undefined ? [epochMsOf(judged.until)] : [];
    }),
  );
  return ends.reduce((earliest, end) => Math.min(earliest, end), first);
}
