import type { AddOnPlacementScore } from '../../model/kind/addon-placement-score.ts';
import type { ManagedCluster } from '../../model/kind/managed-cluster.ts';
import type { Instant } from '../../model/rfc3339.ts';
import { epochMsOf } from '../../model/rfc3339.ts';
import { hasBit } from '../../snapshot/bitset.ts';
import type { DecidedState } from '../decide/decided-state.ts';
import type { PlacementDependents } from './placement-dependents.ts';
import { changedClusterFields } from './changed-cluster-fields.ts';
import type { SnapshotDelta } from './snapshot-delta.ts';
import { isFeasible } from '../filter/feasible.ts';
import type { SchedulingIndex } from '../index/scheduling-index.ts';

/**
 * Finds the placements that a change can affect, while it updates the index. A placement is affected when its
 * feasible clusters, one of their scores, groups or topology values, its conditions or its requeue time may have
 * changed. Another placement's new decisions alone affect no placement: as upstream, a placement is not scheduled
 * again because others moved, else every change would spread through the fleet.
 *
 * Cost: the classes that read a changed field, then the placements of the classes in which the cluster moved.
 */
export class ImpactFinder {
  /** Positions of the affected placements, each with the clusters that made it so, repeats included. */
  readonly affected = new Map<number, number[]>();
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

  /** Replaces the clusters and scores of a delta; clusters that the index does not have are left out. */
  replaceObjects({ clusters = [], scores = [], removedScores = [] }: SnapshotDelta): void {
    const { clusterIndex } = this.#index;
    for (const cluster of clusters) {
      const number = clusterIndex.numberOf(cluster.metadata.name);
      if (number !== undefined && clusterIndex.cluster(number) !== cluster)
        this.replaceCluster(number, cluster);
    }
    for (const key of removedScores) {
      const [namespace = '', name = ''] = key.split('/');
      this.replaceScore(namespace, name, undefined);
    }
    for (const score of scores) this.replaceScore(score.metadata.namespace ?? '', score.metadata.name, score);
  }

  /** Replaces an existing cluster. */
  replaceCluster(number: number, cluster: ManagedCluster): void {
    const { clusterIndex } = this.#index;
    const changed = changedClusterFields(clusterIndex.cluster(number), cluster);
    const resources = clusterIndex.replaceCluster(number, cluster);
    if (changed.labels.length > 0 || changed.deletion)
      for (const eligibility of this.#index.eligibility.refresh(number)) this.#check(eligibility, number);
    for (const predicate of this.#dependents.predicatesReading(changed))
      if (predicate.refresh(number, clusterIndex)) this.#check(predicate, number);
    if (changed.taints) this.#replaceTaints(number, cluster);
    for (const resource of resources) this.#checkContent(this.#dependents.ofResource(resource), number);
    if (changed.labels.length > 0 || changed.claims.length > 0)
      this.#checkContent(this.#dependents.ofAttributes, number);
  }

  /** A score of a cluster appeared, changed, expired or went (undefined). */
  replaceScore(namespace: string, name: string, score: AddOnPlacementScore | undefined): void {
    const { clusterIndex } = this.#index;
    if (score === undefined) clusterIndex.removeScore(namespace, name);
    else clusterIndex.replaceScore(score);
    if (score !== undefined) this.#index.scoreEnds.note(score);
    const number = clusterIndex.numberOf(namespace);
    if (number === undefined) return;
    this.#checkContent(this.#dependents.ofAddOn(name), number);
    for (const predicate of this.#dependents.predicatesWithCel)
      if (predicate.refresh(number, clusterIndex)) this.#check(predicate, number);
  }

  /** Moves the clock forward: tolerations and scores run out. */
  advance(now: Instant): void {
    const { clusterIndex, now: before } = this.#index;
    for (const { tolerations, clusters } of this.#index.advance(now))
      for (const number of clusters) this.#check(tolerations, number);
    this.#states.forEach((state, position) => {
      const requeueAtMs = state?.result.requeueAtMs;
      if (requeueAtMs !== undefined && requeueAtMs <= epochMsOf(now)) this.#touch(position);
    });
    if (!this.#dependents.readsAddOns) return;
    for (const score of this.#index.scoreEnds.between(before, now)) {
      const number = clusterIndex.numberOf(score.metadata.namespace ?? '');
      if (number !== undefined) this.#checkContent(this.#dependents.ofAddOn(score.metadata.name), number);
    }
  }

  #replaceTaints(number: number, cluster: ManagedCluster): void {
    for (const tolerations of this.#index.tolerations.values()) {
      if (tolerations.refresh(number, cluster.spec?.taints ?? [], this.#index.now))
        this.#check(tolerations, number);
      // The requeue time depends on the taints of the previously selected clusters, whether they pass or not.
      if (!tolerations.timed) continue;
      for (const position of this.#dependents.ofClass(tolerations))
        if (this.#wasDecided(position, number)) this.#touch(position, number);
    }
  }

  /** The cluster moved in a class: which of its placements notice? */
  #check(changed: object, number: number): void {
    for (const position of this.#dependents.ofClass(changed)) {
      const state = this.#states[position];
      if (state === undefined || state.stage === 'skipped') continue;
      if (this.#noticesMove(state, number)) this.#touch(position, number);
    }
  }

  #noticesMove(state: DecidedState, number: number): boolean {
    const { compiled, feasible } = state;
    // Whether a misconfiguration shows depends on what is left at its stage; they are few and cheap.
    if (feasible === undefined || compiled.tolerations.problem !== undefined) return true;
    if (compiled.predicate.problem !== undefined) return true;
    if (state.hadAvailable !== compiled.eligibility.count > 0) return true;
    const before = hasBit(feasible, number);
    const after = isFeasible(compiled, number, hasBit(state.prior.bits, number));
    return before !== after || (after && compiled.avoidPreferNoSelect);
  }

  #checkContent(positions: Iterable<number>, number: number): void {
    for (const position of positions) {
      const feasible = this.#states[position]?.feasible;
      if (feasible !== undefined && hasBit(feasible, number)) this.#touch(position, number);
    }
  }

  #wasDecided(position: number, number: number): boolean {
    const state = this.#states[position];
    return state !== undefined && hasBit(state.prior.bits, number);
  }

  #touch(position: number, number?: number): void {
    let touched = this.affected.get(position);
    if (touched === undefined) this.affected.set(position, (touched = []));
    if (number !== undefined) touched.push(number);
  }
}
