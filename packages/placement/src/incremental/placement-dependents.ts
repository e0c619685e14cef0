import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { PredicateClass } from '../filter/predicate-class.ts';
import type { CompiledPlacement } from '../index/scheduling-index.ts';
import { type ResourceName, claimMapOf } from '../snapshot/cluster-index.ts';

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

export function changedClusterFields(before: ManagedCluster, after: ManagedCluster): ChangedClusterFields {
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
