import {
  type CompiledSelector,
  compileLabelSelector,
  matchesLabels,
} from '@berth/kube/model/selector/label-selector-compile';
import { CLUSTER_SET_LABEL, type ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import type { Placement } from '@berth/ocm/kind/placement';
import { type Bitset, countBits, hasBit, makeBitset, putBit, uniteWith } from '../snapshot/bitset.ts';
import { type ClusterIndex, labelOf } from '../snapshot/cluster-index.ts';

/**
 * The clusters in the eligible sets, without those that are being deleted. All placements that may
 * use the same sets share one class.
 */
export interface EligibilityClass extends FilterClass {
  /** Names of the eligible sets, sorted. */
  readonly sets: readonly string[];
  /** Names of the valid bindings of the namespace, sorted. */
  readonly validBindings: readonly string[];
  /** How many clusters are in the eligible sets. */
  count: number;
}

/** The sets, the bindings and the clusters that they make eligible. */
export class Eligibility {
  readonly #clusterIndex: ClusterIndex;
  readonly #memberships = new Map<string, SetMembership>();
  readonly #bindingsOf = new Map<string, readonly string[]>();
  /** Classes by the text of a placement: namespace, sets and additional bindings. */
  readonly #byRequest = new Map<string, EligibilityClass>();
  readonly #classes = new Map<string, EligibilityClass>();

  constructor(
    sets: readonly ManagedClusterSet[],
    bindings: readonly ManagedClusterSetBinding[],
    clusterIndex: ClusterIndex,
  ) {
    this.#clusterIndex = clusterIndex;
    for (const set of sets) this.#memberships.set(set.metadata.name, membershipOf(set));
    const byNamespace = new Map<string, Set<string>>();
    for (const { metadata } of bindings) {
      if (!this.#memberships.has(metadata.name)) continue;
      const namespace = metadata.namespace ?? '';
      byNamespace.set(namespace, (byNamespace.get(namespace) ?? new Set()).add(metadata.name));
    }
    for (const [namespace, names] of byNamespace) this.#bindingsOf.set(namespace, [...names].sort());
  }

  /** The class of a placement, as if its namespace also had the additional bindings. */
  classOf(placement: Placement, extraBindings: readonly string[] = []): EligibilityClass {
    const { metadata, spec } = placement;
    const request = JSON.stringify([metadata.namespace, spec?.clusterSets, extraBindings]);
    const known = this.#byRequest.get(request);
    if (known !== undefined) return known;
    const found = this.#findClass(placement, extraBindings);
    this.#byRequest.set(request, found);
    return found;
  }

  #findClass(placement: Placement, extraBindings: readonly string[]): EligibilityClass {
    const bound = this.#bindingsOf.get(placement.metadata.namespace ?? '') ?? [];
    const extra = extraBindings.filter((name) => this.#memberships.has(name));
    const validBindings = extra.length === 0 ? bound : [...new Set([...bound, ...extra])].sort();
    const wanted = placement.spec?.clusterSets ?? [];
    const sets = wanted.length === 0 ? validBindings : validBindings.filter((name) => wanted.includes(name));
    const key = JSON.stringify([sets, validBindings]);
    const known = this.#classes.get(key);
    if (known !== undefined) return known;
    const bits = this.#clustersOf(sets);
    const fresh = { sets, validBindings, passNew: bits, passDecided: bits, count: countBits(bits) };
    this.#classes.set(key, fresh);
    return fresh;
  }

  /**
   * Evaluates one cluster again after its object changed.
   * @returns the classes that the cluster joined or left
   */
  refresh(number: number): EligibilityClass[] {
    const cluster = this.#clusterIndex.cluster(number);
    const memberOf = new Set(this.setsOf(cluster));
    const alive = cluster.metadata.deletionTimestamp === undefined;
    return [...this.#classes.values()].filter((eligibility) => {
      const eligible = alive && eligibility.sets.some((set) => memberOf.has(set));
      if (hasBit(eligibility.passNew, number) === eligible) return false;
      putBit(eligibility.passNew, number, eligible);
      eligibility.count += eligible ? 1 : -1;
      return true;
    });
  }

  /** Every existing set that the cluster is a member of, sorted. */
  setsOf(cluster: ManagedCluster): string[] {
    return [...this.#memberships]
      .flatMap(([name, membership]) => (isInSet(cluster, membership) ? [name] : []))
      .sort();
  }

  #clustersOf(sets: readonly string[]): Bitset {
    const clusterIndex = this.#clusterIndex;
    const bits = makeBitset(clusterIndex.size);
    for (const set of sets) {
      const membership = this.#memberships.get(set);
      if (membership?.by === 'label') uniteWith(bits, clusterIndex.labels.withValue(CLUSTER_SET_LABEL, set));
      if (membership?.by === 'selector')
        uniteWith(bits, clusterIndex.labels.select(membership.selector.requirements));
    }
    for (let i = 0; i < clusterIndex.size; i++)
      if (clusterIndex.cluster(i).metadata.deletionTimestamp !== undefined) putBit(bits, i, false);
    return bits;
  }
}

/** How a set defines its members. */
export type SetMembership =
  | { readonly by: 'label'; readonly name: string }
  | { readonly by: 'selector'; readonly selector: CompiledSelector }
  | { readonly by: 'nothing' };

/**
 * Reads how a set defines its members. A set with an invalid selector or an unknown selector type
 * has no members.
 */
export function membershipOf(set: ManagedClusterSet): SetMembership {
  const selector = set.spec?.clusterSelector;
  const type = selector?.selectorType ?? '';
  if (type === '' || type === 'ExclusiveClusterSetLabel') return { by: 'label', name: set.metadata.name };
  if (type !== 'LabelSelector' || selector?.labelSelector === undefined) return { by: 'nothing' };
  const compiled = compileLabelSelector(selector.labelSelector);
  return compiled.ok ? { by: 'selector', selector: compiled.selector } : { by: 'nothing' };
}

export function isInSet(cluster: ManagedCluster, membership: SetMembership): boolean {
  return membership.by === 'label'
    ? labelOf(cluster, CLUSTER_SET_LABEL) === membership.name
    : membership.by === 'selector' && matchesLabels(membership.selector, cluster.metadata.labels);
}

/**
 * The clusters of the fleet that pass one filter. Placements with the same request to a filter
 * share one class. To add a filter, add a class like the others in this folder and a line in the
 * registry.
 */
export interface FilterClass {
  /** Clusters that pass if the placement has not selected them before. */
  readonly passNew: Bitset;
  /**
   * Clusters that pass if the placement has selected them before. The same object as `passNew` if
   * this makes no difference.
   */
  readonly passDecided: Bitset;
}
