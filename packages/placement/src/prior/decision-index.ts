import { PLACEMENT_LABEL, type PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { groupBy } from '@berth/runtime/lists/group-by';
import { hasBit } from '../snapshot/bitset.ts';
import type { ClusterIndex } from '../snapshot/cluster-index.ts';
import { ClusterRenumbering } from './cluster-renumbering.ts';
import { DecisionCountScores, DecisionCountLog } from '../prioritize/decision-count-scores.ts';
import {
  type PublishedClusterLists,
  clustersOfPages,
  decisionOwner,
  numberClusters,
  type NumberedClusters,
  numbersOfClusters,
} from './published-clusters.ts';
import { diffOwnDecisions, listDecisions, makeOwnDecisions, type OwnDecisions } from './own-decisions.ts';

/**
 * The current decisions of all placements as cluster numbers, with a count per cluster that every
 * change updates. Balance, Steady and NoSelectIfNew read them. Selected clusters that are not in
 * the fleet get numbers above its size.
 */
export class DecisionIndex {
  /** The clusters whose count changed. */
  readonly countLog: DecisionCountLog;
  readonly countScores: DecisionCountScores;
  readonly #clusterIndex: ClusterIndex;
  readonly #nothing: OwnDecisions;
  readonly #own = new Map<string, OwnDecisions>();
  readonly #decisionsOfLists = new WeakMap<readonly string[], OwnDecisions>();
  readonly #numbersOutsideFleet = new Map<string, number>();
  readonly #namesOutsideFleet: string[] = [];
  /** Placements whose decisions may differ from the last published ones. */
  readonly #moved = new Set<string>();
  #isPublished = false;
  /** The identity of the numbers of this index, clusters that are not in the fleet included. */
  readonly #numbering = {};
  /** The numberings of the index from which this one was made, and the mapping from them. */
  #before: { readonly numberings: readonly object[]; readonly numbers: ClusterRenumbering } | undefined;
  #counts: Int32Array;
  /** How many clusters have each count. Index 0 is not used. */
  #frequency = new Int32Array(64);
  #most = 0;
  /** The clusters with count `#most`; undefined if not computed yet. */
  #top: Set<number> | undefined;

  /** @param countLog the log of an index over another fleet that this index replaces */
  constructor(
    clusterIndex: ClusterIndex,
    decisions: readonly PlacementDecision[],
    countLog = new DecisionCountLog(),
  ) {
    this.#clusterIndex = clusterIndex;
    this.countLog = countLog;
    this.countScores = new DecisionCountScores(this.countLog, clusterIndex.size);
    this.#nothing = makeOwnDecisions(new Uint32Array(0), clusterIndex.size);
    this.#counts = new Int32Array(clusterIndex.size + 16);
    for (const [key, pages] of groupBy(decisions, (page) => decisionOwner(page) ?? ''))
      this.put(key, this.#ownOf(clustersOfPages(pages)));
  }

  /**
   * The same decisions over another fleet. The caller must then call `publish` for all placements
   * again.
   */
  renumberFor(clusterIndex: ClusterIndex): {
    readonly decisionIndex: DecisionIndex;
    readonly numbers: ClusterRenumbering;
  } {
    const after = new DecisionIndex(clusterIndex, [], this.countLog);
    const toNew = after.numbersOf([...this.#clusterIndex.names, ...this.#namesOutsideFleet]);
    const numbers = new ClusterRenumbering(toNew, {
      before: this.#clusterIndex.size,
      after: clusterIndex.size,
    });
    this.countLog.renumber(toNew);
    this.#counts.forEach((count, number) => {
      if (count > 0) after.#counts[toNew[number] as number] = count;
    });
    after.#frequency = this.#frequency;
    after.#most = this.#most;
    for (const [key, own] of this.#own) after.#own.set(key, numbers.decisions(own));
    after.#before = { numberings: [this.#numbering, this.#clusterIndex.numbering], numbers };
    return { decisionIndex: after, numbers };
  }

  /** How many placements select each cluster. The array is shared: read only. */
  get counts(): Int32Array {
    return this.#counts;
  }

  /**
   * The largest count without the decisions of one placement. These decisions must be in this index
   * and must have no repeats.
   */
  maxCountWithout(own: OwnDecisions): number {
    if (this.#most === 0) return 0;
    this.#top ??= this.#findTop();
    const isOwn = (cluster: number): boolean =>
      cluster < this.#clusterIndex.size ? hasBit(own.bits, cluster) : own.gone.has(cluster);
    for (const cluster of this.#top) if (!isOwn(cluster)) return this.#most;
    return this.#most - 1;
  }

  /**
   * A copy of the counts without the decisions of one placement, including its repeats, and the
   * largest of these counts.
   */
  withoutOwn(key: string): { readonly counts: Int32Array; readonly most: number } {
    const counts = this.#counts.slice();
    for (const number of listDecisions(this.own(key))) counts[number] = (counts[number] as number) - 1;
    return { counts, most: counts.reduce((most, count) => Math.max(most, count), 0) };
  }

  own(key: string): OwnDecisions {
    return this.#own.get(key) ?? this.#nothing;
  }

  /**
   * Replaces the decisions of one placement.
   * @returns what is stored now: the object that was stored before if it is equal
   */
  put(key: string, after: OwnDecisions): OwnDecisions {
    if (!this.#replace(key, after)) return this.own(key);
    this.#moved.add(key);
    return after;
  }

  /** Stores the decisions for a list of clusters, in case the list is published. */
  register(clusters: readonly string[], decisions: OwnDecisions): void {
    // All indexes of the same fleet have the same numbers for it.
    const numbering = decisions.gone.size === 0 ? this.#clusterIndex.numbering : this.#numbering;
    numberClusters(clusters, { numbering, decisions });
  }

  /** Replaces the decisions by the published ones. */
  publish({ clusters, changed }: PublishedClusterLists): void {
    // A new index does not know the earlier publications.
    const all = changed === undefined || !this.#isPublished;
    const keys = all ? [this.#own.keys(), clusters.keys()] : [changed, this.#moved];
    for (const key of new Set(keys.flatMap((some) => [...some]))) {
      const names = clusters.get(key);
      this.#replace(key, names === undefined ? this.#nothing : this.#ownOf(names));
    }
    this.#moved.clear();
    this.#isPublished = true;
  }

  /** @returns whether the decisions changed */
  #replace(key: string, after: OwnDecisions): boolean {
    const known = this.#own.get(key);
    if (known === after) return false;
    const before = known ?? this.#nothing;
    const { gained, lost } = diffOwnDecisions(before, after);
    // Equal decisions stay the same object, because comparing an object with itself is fast.
    const isSame = gained.length + lost.length === 0;
    if (known === undefined || !isSame) this.#own.set(key, after);
    if (isSame) return false;
    for (const cluster of lost) this.#count(cluster, -1);
    for (const cluster of gained) this.#count(cluster, 1);
    while (this.#most > 0 && this.#frequency[this.#most] === 0) {
      this.#most--;
      this.#top = undefined;
    }
    return true;
  }

  /** Removes the decisions of one placement from the counts and returns them. */
  remove(key: string): OwnDecisions {
    const own = this.own(key);
    this.put(key, this.#nothing);
    this.#own.delete(key);
    return own;
  }

  decisionsOf(names: readonly string[]): OwnDecisions {
    return makeOwnDecisions(this.numbersOf(names), this.#clusterIndex.size);
  }

  /** Like `decisionsOf`, cached by list. For a list that the caller passes repeatedly and never changes. */
  knownDecisionsOf(names: readonly string[]): OwnDecisions {
    const numbered = numbersOfClusters(names);
    if (numbered !== undefined && this.#isNumberedHere(numbered)) return numbered.decisions;
    let known = this.#decisionsOfLists.get(names);
    if (known === undefined) this.#decisionsOfLists.set(names, (known = this.decisionsOf(names)));
    if (numbered === undefined) this.register(names, known);
    return known;
  }

  numbersOf(names: readonly string[]): Uint32Array {
    return Uint32Array.from(
      names,
      (name) => this.#clusterIndex.numberOf(name) ?? this.#numberOutsideFleet(name),
    );
  }

  /** The cluster name of a number of this index. */
  nameOf(number: number): string {
    if (number < this.#clusterIndex.size) return this.#clusterIndex.names[number] as string;
    return this.#namesOutsideFleet[number - this.#clusterIndex.size] ?? '';
  }

  /** All decisions as objects, one per placement, not divided into pages. */
  objects(): PlacementDecision[] {
    return [...this.#own].map(([key, own]) => {
      const slash = key.indexOf('/');
      const labels = slash < 0 ? {} : { [PLACEMENT_LABEL]: key.slice(slash + 1) };
      const decisions = Array.from(listDecisions(own), (number) => ({
        clusterName: this.nameOf(number),
        reason: '',
      }));
      return {
        apiVersion: 'cluster.open-cluster-management.io/v1beta1',
        kind: 'PlacementDecision',
        metadata: { name: key.slice(slash + 1), namespace: key.slice(0, Math.max(0, slash)), labels },
        status: { decisions },
      };
    });
  }

  #ownOf(published: readonly string[]): OwnDecisions {
    const known = numbersOfClusters(published);
    // Usually the caller passes the same lists again.
    if (known !== undefined && this.#isNumberedHere(known)) return known.decisions;
    const decisions =
      known !== undefined && this.#before?.numberings.includes(known.numbering) === true
        ? this.#before.numbers.decisions(known.decisions)
        : this.decisionsOf(published);
    this.register(published, decisions);
    return decisions;
  }

  #isNumberedHere({ numbering }: NumberedClusters): boolean {
    return numbering === this.#clusterIndex.numbering || numbering === this.#numbering;
  }

  #numberOutsideFleet(name: string): number {
    const known = this.#numbersOutsideFleet.get(name);
    if (known !== undefined) return known;
    const number = this.#clusterIndex.size + this.#numbersOutsideFleet.size;
    this.#numbersOutsideFleet.set(name, number);
    this.#namesOutsideFleet.push(name);
    if (number >= this.#counts.length) this.#counts = grown(this.#counts);
    return number;
  }

  #count(number: number, step: 1 | -1): void {
    const before = this.#counts[number] as number;
    const after = before + step;
    this.#counts[number] = after;
    if (after >= this.#frequency.length) this.#frequency = grown(this.#frequency);
    if (before > 0) this.#frequency[before] = (this.#frequency[before] as number) - 1;
    if (after > 0) this.#frequency[after] = (this.#frequency[after] as number) + 1;
    this.countLog.add(number);
    if (after > this.#most) {
      this.#most = after;
      this.#top = new Set([number]);
    } else if (after === this.#most) this.#top?.add(number);
    else if (before === this.#most) this.#top?.delete(number);
  }

  #findTop(): Set<number> {
    const top = new Set<number>();
    for (let i = 0; i < this.#counts.length; i++) if (this.#counts[i] === this.#most) top.add(i);
    return top;
  }
}

function grown(array: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(array.length * 2);
  longer.set(array);
  return longer;
}
