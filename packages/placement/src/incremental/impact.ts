import { type Instant, epochMsOf } from '@berth/kube/model/rfc3339';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { DecidedState } from '../decide/decided-state.ts';
import { feasibleClusters, isFeasible } from '../filter/feasible.ts';
import type { TolerationClass } from '../filter/toleration-class.ts';
import type { SchedulingIndex, CompiledPlacement } from '../index/scheduling-index.ts';
import { type Bitset, hasBit, makeBitset, putBit } from '../snapshot/bitset.ts';
import type { SnapshotDelta } from './snapshot-delta.ts';
import type { PredicateClass } from '../filter/predicate-class.ts';
import { type ResourceName, claimMapOf } from '../snapshot/cluster-index.ts';

/**
 * Finds the placements that a change can affect, and updates the index. A placement is affected if
 * one of the following may have changed: its feasible clusters, one of their scores, groups or
 * topology values, its conditions, or its requeue time. A new decision of another placement alone
 * affects no placement. As upstream, a placement is not scheduled again because others moved.
 * Otherwise every change would spread through the fleet.
 *
 * Cost: it visits the classes that read a changed field. When all objects are replaced, it visits
 * the placements of the classes in which clusters moved.
 */
export class ImpactFinder {
  /** The clusters that started or stopped passing, by filter class. */
  readonly #moved = new Map<object, number[]>();
  /** The clusters with changed content, by the positions of the placements that read it. */
  readonly #content = new Map<ReadonlySet<number>, number[]>();
  /**
   * The clusters with changed taints, by toleration class. The requeue time may change if such a
   * cluster was selected before.
   */
  readonly #tainted = new Map<TolerationClass, number[]>();
  readonly #affected = new Map<number, number[]>();
  readonly #index: SchedulingIndex;
  readonly #states: readonly (DecidedState | undefined)[];
  readonly #dependents: PlacementDependents;

  constructor(
    index: SchedulingIndex,
    states: readonly (DecidedState | undefined)[],
    dependents: PlacementDependents,
  ) {
    this.#index = index;
    this.#states = states;
    this.#dependents = dependents;
  }

  /**
   * The positions of the affected placements, each with the clusters that affect it. A cluster may
   * occur several times.
   */
  findAffected(): ReadonlyMap<number, readonly number[]> {
    const { size } = this.#index.clusterIndex;
    for (const [shared, clusters] of this.#moved) {
      const moved = new ClusterGroup(clusters, size);
      for (const position of this.#dependents.ofClass(shared)) this.#touchMoved(position, moved);
    }
    for (const [positions, clusters] of this.#content) {
      const changed = new ClusterGroup(clusters, size);
      for (const position of positions) {
        const feasible = this.#states[position]?.feasible;
        if (feasible !== undefined) this.touch(position, changed.within(feasible));
      }
    }
    for (const [tolerations, clusters] of this.#tainted) {
      const tainted = new ClusterGroup(clusters, size);
      for (const position of this.#dependents.ofClass(tolerations)) {
        const state = this.#states[position];
        if (state !== undefined) this.touch(position, tainted.within(state.prior.bits));
      }
    }
    return this.#affected;
  }

  /**
   * Replaces the clusters and scores of a delta. Clusters that are not in the index are ignored.
   */
  replaceObjects({ clusters = [], scores = [], removedScores = [] }: SnapshotDelta): void {
    const { clusterIndex } = this.#index;
    for (const cluster of clusters) {
      const number = clusterIndex.numberOf(cluster.metadata.name);
      if (number !== undefined && clusterIndex.cluster(number) !== cluster)
        this.#replaceCluster(number, cluster);
    }
    for (const key of removedScores) {
      const [namespace = '', name = ''] = key.split('/');
      this.#replaceScore(namespace, name, undefined);
    }
    for (const score of scores)
      this.#replaceScore(score.metadata.namespace ?? '', score.metadata.name, score);
  }

  #replaceCluster(number: number, cluster: ManagedCluster): void {
    const { clusterIndex } = this.#index;
    const changed = changedClusterFields(clusterIndex.cluster(number), cluster);
    const resources = clusterIndex.replaceCluster(number, cluster);
    if (changed.labels.length > 0 || changed.deletion)
      for (const eligibility of this.#index.eligibility.refresh(number))
        note(this.#moved, eligibility, number);
    for (const predicate of this.#dependents.predicatesReading(changed))
      if (predicate.refresh(number, clusterIndex)) note(this.#moved, predicate, number);
    if (changed.taints) this.#replaceTaints(number, cluster);
    for (const resource of resources) note(this.#content, this.#dependents.ofResource(resource), number);
    if (changed.labels.length > 0 || changed.claims.length > 0)
      note(this.#content, this.#dependents.ofAttributes, number);
  }

  /** Handles a score of a cluster that appeared, changed or was removed (undefined). */
  #replaceScore(namespace: string, name: string, score: AddOnPlacementScore | undefined): void {
    const { clusterIndex } = this.#index;
    if (score === undefined) clusterIndex.removeScore(namespace, name);
    else clusterIndex.replaceScore(score);
    if (score !== undefined) this.#index.scoreEnds.note(score);
    const number = clusterIndex.numberOf(namespace);
    if (number === undefined) return;
    note(this.#content, this.#dependents.ofAddOn(name), number);
    for (const predicate of this.#dependents.predicatesWithCel)
      if (predicate.refresh(number, clusterIndex)) note(this.#moved, predicate, number);
  }

  /** Moves the clock forward. Tolerations and scores may expire. */
  advance(now: Instant): void {
    const { clusterIndex, now: before } = this.#index;
    for (const { tolerations, clusters } of this.#index.advance(now))
      for (const number of clusters) note(this.#moved, tolerations, number);
    this.#states.forEach((state, position) => {
      const requeueAtMs = state?.result.requeueAtMs;
      if (requeueAtMs !== undefined && requeueAtMs <= epochMsOf(now) && !this.#affected.has(position))
        this.#affected.set(position, []);
    });
    if (!this.#dependents.readsAddOns) return;
    for (const score of this.#index.scoreEnds.between(before, now)) {
      const number = clusterIndex.numberOf(score.metadata.namespace ?? '');
      if (number !== undefined) note(this.#content, this.#dependents.ofAddOn(score.metadata.name), number);
    }
  }

  #replaceTaints(number: number, cluster: ManagedCluster): void {
    for (const tolerations of this.#index.tolerations.values()) {
      if (tolerations.refresh(number, cluster.spec?.taints ?? [], this.#index.now))
        note(this.#moved, tolerations, number);
      // The requeue time depends on the taints of all previously selected clusters, even if they do
      // not pass.
      if (tolerations.timed) note(this.#tainted, tolerations, number);
    }
  }

  /** Finds which of the clusters that moved in a class concern the placement. */
  #touchMoved(position: number, moved: ClusterGroup): void {
    const state = this.#states[position];
    if (state === undefined || state.stage === 'skipped') return;
    const { compiled, feasible, prior } = state;
    const { tolerations, predicate, eligibility } = compiled;
    const concernsAll =
      feasible === undefined ||
      // A misconfiguration is visible only if clusters reach its stage. Such placements are few.
      tolerations.problem !== undefined ||
      predicate.problem !== undefined ||
      state.hadAvailable !== eligibility.count > 0;
    this.touch(
      position,
      concernsAll ? moved.clusters : moved.noticedBy(compiled, { feasible, prior: prior.bits }),
    );
  }

  /** Notes that the placement at a position must check these clusters. */
  touch(position: number, clusters: readonly number[]): void {
    if (clusters.length === 0) return;
    const touched = this.#affected.get(position);
    if (touched === undefined) this.#affected.set(position, [...clusters]);
    else for (const cluster of clusters) touched.push(cluster);
  }
}

function note<K>(map: Map<K, number[]>, key: K, cluster: number): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [cluster]);
  else known.push(cluster);
}

/** The state of a placement when it was decided. */
interface Before {
  readonly feasible: Bitset;
  /** The decisions of the placement before that. */
  readonly prior: Bitset;
}

/**
 * A group with more clusters than this is checked 32 clusters at a time. One at a time, 1,000
 * placements that noticed 1,000 tainted clusters took 1.5 s of processor time.
 */
const FEW = 32;

/** Clusters that changed. One placement after the other asks which of them concern it. */
export class ClusterGroup {
  /** The cluster numbers. A number may occur several times. */
  readonly clusters: readonly number[];
  /** The same clusters as a bitset; undefined if the group is small. */
  readonly #bits: Bitset | undefined;

  constructor(clusters: readonly number[], fleetSize: number) {
    this.clusters = clusters;
    if (clusters.length <= FEW) return;
    this.#bits = makeBitset(fleetSize);
    for (const cluster of clusters) putBit(this.#bits, cluster, true);
  }

  /** The clusters of the group that are in a set. */
  within(bits: Bitset): readonly number[] {
    const group = this.#bits;
    if (group === undefined) return this.clusters.filter((cluster) => hasBit(bits, cluster));
    return numbersOf(group, (word) => bits[word] as number);
  }

  /**
   * The clusters of the group that started or stopped passing the filters of a placement. With the
   * opt-in tie-break, also all that pass now.
   */
  noticedBy(compiled: CompiledPlacement, { feasible, prior }: Before): readonly number[] {
    const { avoidPreferNoSelect } = compiled;
    const group = this.#bits;
    if (group === undefined)
      return this.clusters.filter((cluster) => {
        const after = isFeasible(compiled, cluster, hasBit(prior, cluster));
        return hasBit(feasible, cluster) !== after || (after && avoidPreferNoSelect);
      });
    const now = feasibleClusters(compiled, prior);
    return numbersOf(group, (word) => {
      const after = now[word] as number;
      return ((feasible[word] as number) ^ after) | (avoidPreferNoSelect ? after : 0);
    });
  }
}

/** The numbers, ascending, that are in both sets. `other` returns a word of the other set. */
function numbersOf(bits: Bitset, other: (word: number) => number): number[] {
  const numbers: number[] = [];
  for (let word = 0; word < bits.length; word++) {
    let both = (bits[word] as number) & other(word);
    while (both !== 0) {
      const lowest = both & -both;
      numbers.push((word << 5) + (31 - Math.clz32(lowest)));
      both ^= lowest;
    }
  }
  return numbers;
}

const NO_PLACEMENTS: ReadonlySet<number> = new Set();

/** Maps a class, a resource, an add-on or a key to the positions of the placements that read it. */
export class PlacementDependents {
  /** Placements whose groups or spread constraints read labels or claims. */
  readonly ofAttributes = new Set<number>();
  readonly predicatesWithCel = new Set<PredicateClass>();
  readonly #byClass = new Map<object, Set<number>>();
  readonly #byResource = new Map<ResourceName, Set<number>>();
  readonly #byAddOn = new Map<string, Set<number>>();
  readonly #byLabel = new Map<string, Set<PredicateClass>>();
  readonly #byClaim = new Map<string, Set<PredicateClass>>();

  constructor(placements: readonly CompiledPlacement[]) {
    placements.forEach((compiled, position) => this.#add(compiled, position));
  }

  get readsAddOns(): boolean {
    return this.#byAddOn.size > 0;
  }

  /** The placements that use an EligibilityClass, PredicateClass or TolerationClass. */
  ofClass(shared: object): ReadonlySet<number> {
    return this.#byClass.get(shared) ?? NO_PLACEMENTS;
  }

  ofResource(resource: ResourceName): ReadonlySet<number> {
    return this.#byResource.get(resource) ?? NO_PLACEMENTS;
  }

  ofAddOn(name: string): ReadonlySet<number> {
    return this.#byAddOn.get(name) ?? NO_PLACEMENTS;
  }

  predicatesReading(changed: ChangedClusterFields): Set<PredicateClass> {
    const predicates = new Set(changed.object ? this.predicatesWithCel : []);
    for (const key of changed.labels) for (const one of this.#byLabel.get(key) ?? []) predicates.add(one);
    for (const key of changed.claims) for (const one of this.#byClaim.get(key) ?? []) predicates.add(one);
    return predicates;
  }

  /** Replaces the placement at a position. */
  replace(position: number, before: CompiledPlacement, after: CompiledPlacement): void {
    this.#remove(before, position);
    this.#add(after, position);
  }

  #add(compiled: CompiledPlacement, position: number): void {
    const { eligibility, predicate, tolerations, policy, groups, spread } = compiled;
    join(this.#byClass, eligibility, position);
    join(this.#byClass, tolerations, position);
    if (!this.#byClass.has(predicate)) {
      for (const key of predicate.labelKeys) join(this.#byLabel, key, predicate);
      for (const key of predicate.claimKeys) join(this.#byClaim, key, predicate);
      if (predicate.usesCel) this.predicatesWithCel.add(predicate);
    }
    join(this.#byClass, predicate, position);
    if (spread.length > 0 || (groups.ok && groups.named.length > 0)) this.ofAttributes.add(position);
    if (!policy.ok) return;
    for (const { prioritizer } of policy.prioritizers) {
      if (prioritizer.resource !== undefined) join(this.#byResource, prioritizer.resource, position);
      if (prioritizer.addOn !== undefined) join(this.#byAddOn, prioritizer.addOn, position);
    }
  }

  #remove({ eligibility, predicate, tolerations, policy }: CompiledPlacement, position: number): void {
    leave(this.#byClass, eligibility, position);
    leave(this.#byClass, tolerations, position);
    leave(this.#byClass, predicate, position);
    if (!this.#byClass.has(predicate)) {
      for (const key of predicate.labelKeys) leave(this.#byLabel, key, predicate);
      for (const key of predicate.claimKeys) leave(this.#byClaim, key, predicate);
      this.predicatesWithCel.delete(predicate);
    }
    this.ofAttributes.delete(position);
    if (!policy.ok) return;
    for (const { prioritizer } of policy.prioritizers) {
      if (prioritizer.resource !== undefined) leave(this.#byResource, prioritizer.resource, position);
      if (prioritizer.addOn !== undefined) leave(this.#byAddOn, prioritizer.addOn, position);
    }
  }
}

function join<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([value]));
  else known.add(value);
}

function leave<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const known = map.get(key);
  if (known?.delete(value) === true && known.size === 0) map.delete(key);
}

/** Which parts of a cluster that placement reads differ between two states. */
interface ChangedClusterFields {
  /** Keys of labels that were added, removed or changed. `claims` has the same for claims. */
  readonly labels: readonly string[];
  readonly claims: readonly string[];
  readonly taints: boolean;
  readonly deletion: boolean;
  /** Whether anything differs. CEL reads the whole object. */
  readonly object: boolean;
}

const NONE: TextMap = {};

function changedClusterFields(before: ManagedCluster, after: ManagedCluster): ChangedClusterFields {
  return {
    labels: changedKeys(before.metadata.labels ?? NONE, after.metadata.labels ?? NONE),
    claims:
      before.status?.clusterClaims === after.status?.clusterClaims
        ? []
        : changedKeys(claimMapOf(before), claimMapOf(after)),
    taints: JSON.stringify(before.spec?.taints ?? []) !== JSON.stringify(after.spec?.taints ?? []),
    deletion:
      (before.metadata.deletionTimestamp === undefined) !== (after.metadata.deletionTimestamp === undefined),
    object: before !== after,
  };
}

type TextMap = Readonly<Record<string, string>>;

function changedKeys(before: TextMap, after: TextMap): string[] {
  if (before === after) return [];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].filter((key) => own(before, key) !== own(after, key));
}

function own(map: TextMap, key: string): string | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}
