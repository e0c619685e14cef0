import { parseQuantity, quantityToNumber } from '@berth/kube/model/quantity';
import { type Requirement, matchesRequirement } from '@berth/kube/model/selector/label-selector-requirement';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import {
  type Bitset,
  hasBit,
  intersectWith,
  makeBitset,
  makeFullBitset,
  putBit,
  subtractFrom,
  uniteWith,
} from './bitset.ts';

/** Amounts that a cluster can offer to placements. */
export type ResourceName = 'cpu' | 'memory';

const RESOURCES: readonly ResourceName[] = ['cpu', 'memory'];

/** The numbers of the clusters of a fleet. Fleets with the same names mostly share one. */
export interface ClusterNumbering {
  /** In code-unit order. */
  readonly names: readonly string[];
  readonly numberOf: ReadonlyMap<string, number>;
}

/**
 * The clusters of a snapshot, numbered by name (code-unit order), with the indexes that decisions
 * need. Columns and indexes are built on first use and updated by `replaceCluster` and
 * `replaceScore`. Of several clusters with one name the last is used.
 */
export class ClusterIndex {
  readonly numbering: ClusterNumbering;
  readonly labels: AttributeIndex;
  readonly claims: AttributeIndex;
  readonly #clusters: ManagedCluster[];
  readonly #scores = new Map<string, Map<string, AddOnPlacementScore>>();
  readonly #amounts = new Map<ResourceName, Float64Array>();
  readonly #quantities = new Map<string | number, number>();

  constructor(clusters: readonly ManagedCluster[], scores: readonly AddOnPlacementScore[]) {
    const byName = new Map(clusters.map((cluster) => [cluster.metadata.name, cluster]));
    this.numbering = numberingOf(byName);
    this.#clusters = this.names.map((name) => byName.get(name) as ManagedCluster);
    this.labels = new AttributeIndex(this.size, (number, key) => labelOf(this.cluster(number), key));
    this.claims = new AttributeIndex(this.size, (number, key) => claimOf(this.cluster(number), key));
    for (const score of scores) this.replaceScore(score);
  }

  get names(): readonly string[] {
    return this.numbering.names;
  }

  get size(): number {
    return this.numbering.names.length;
  }

  cluster(number: number): ManagedCluster {
    return this.#clusters[number] as ManagedCluster;
  }

  get clusters(): readonly ManagedCluster[] {
    return this.#clusters;
  }

  numberOf(name: string): number | undefined {
    return this.numbering.numberOf.get(name);
  }

  /** The AddOnPlacementScores in a cluster's namespace, by name. */
  scoresOf(clusterName: string): ReadonlyMap<string, AddOnPlacementScore> {
    return this.#scores.get(clusterName) ?? NO_SCORES;
  }

  get scores(): AddOnPlacementScore[] {
    return [...this.#scores.values()].flatMap((ofCluster) => [...ofCluster.values()]);
  }

  /**
   * Allocatable amounts per cluster, as float64; NaN unless both allocatable and capacity have the
   * resource.
   */
  amounts(resource: ResourceName): Float64Array {
    const known = this.#amounts.get(resource);
    if (known !== undefined) return known;
    const column = new Float64Array(this.size);
    for (let i = 0; i < column.length; i++) column[i] = this.amountOf(this.cluster(i), resource);
    this.#amounts.set(resource, column);
    return column;
  }

  /**
   * Updates an existing cluster in all indexes.
   * @returns the resources whose amounts changed
   */
  replaceCluster(number: number, cluster: ManagedCluster): ResourceName[] {
    const before = this.cluster(number);
    this.#clusters[number] = cluster;
    this.labels.refresh(number);
    this.claims.refresh(number);
    // Reported for every resource, used or not: decisions that used it may be from an earlier fleet.
    const changed = RESOURCES.filter(
      (resource) => !Object.is(this.amountOf(before, resource), this.amountOf(cluster, resource)),
    );
    for (const resource of changed) {
      const column = this.#amounts.get(resource);
      if (column !== undefined) column[number] = this.amountOf(cluster, resource);
    }
    return changed;
  }

  replaceScore(score: AddOnPlacementScore): void {
    const namespace = score.metadata.namespace ?? '';
    const ofCluster = this.#scores.get(namespace) ?? new Map<string, AddOnPlacementScore>();
    ofCluster.set(score.metadata.name, score);
    this.#scores.set(namespace, ofCluster);
  }

  removeScore(namespace: string, name: string): void {
    this.#scores.get(namespace)?.delete(name);
  }

  /** As in `amounts`, for an object that need not be in the fleet. */
  amountOf(cluster: ManagedCluster, resource: ResourceName): number {
    const { allocatable, capacity } = cluster.status ?? {};
    if (allocatable === undefined || !Object.hasOwn(allocatable, resource)) return Number.NaN;
    if (capacity === undefined || !Object.hasOwn(capacity, resource)) return Number.NaN;
    if (Number.isNaN(this.#quantity(capacity[resource] as string))) return Number.NaN;
    return this.#quantity(allocatable[resource] as string);
  }

  /** Fleets repeat a few sizes over and over: each text is parsed once. */
  #quantity(text: string | number): number {
    const known = this.#quantities.get(text);
    if (known !== undefined) return known;
    const quantity = parseQuantity(text);
    const value = quantity === undefined ? Number.NaN : quantityToNumber(quantity);
    this.#quantities.set(text, value);
    return value;
  }
}

/** By the first cluster of the fleet. */
const NUMBERINGS = new WeakMap<ManagedCluster, ClusterNumbering>();

function numberingOf(byName: ReadonlyMap<string, ManagedCluster>): ClusterNumbering {
  const names = [...byName.keys()].sort();
  const first = byName.get(names[0] ?? '');
  const known = first && NUMBERINGS.get(first);
  if (known?.names.length === names.length && names.every((name, at) => name === known.names[at]))
    return known;
  const numbering = { names, numberOf: new Map(names.map((name, number) => [name, number])) };
  if (first !== undefined) NUMBERINGS.set(first, numbering);
  return numbering;
}

const NO_SCORES: ReadonlyMap<string, AddOnPlacementScore> = new Map();

export function labelOf(cluster: ManagedCluster, key: string): string | undefined {
  const labels = cluster.metadata.labels;
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Claims are a map by name: of several with one name the last counts. */
export function claimOf(cluster: ManagedCluster, name: string): string | undefined {
  return cluster.status?.clusterClaims?.findLast((claim) => claim.name === name)?.value;
}

export function claimMapOf(cluster: ManagedCluster): Readonly<Record<string, string>> {
  return Object.fromEntries((cluster.status?.clusterClaims ?? []).map(({ name, value }) => [name, value]));
}

/** The value of one key (a label, a claim) on cluster number `index`; undefined when the cluster has no such key. */
type ReadAttribute = (index: number, key: string) => string | undefined;

/**
 * Clusters by key and value. A key is indexed when a selector first uses it: one number per cluster
 * (the id of the value), and one bitset per requested value. So a key with as many values as
 * clusters costs no more than any other.
 */
class AttributeIndex {
  readonly #size: number;
  readonly #read: ReadAttribute;
  readonly #keys = new Map<string, KeyIndex>();

  constructor(size: number, read: ReadAttribute) {
    this.#size = size;
    this.#read = read;
  }

  /** Clusters that satisfy all requirements; a fresh set that the caller may change. */
  select(requirements: readonly Requirement[]): Bitset {
    const result = makeFullBitset(this.#size);
    for (const requirement of requirements) {
      const { operator } = requirement;
      if (operator === 'NotIn' || operator === 'DoesNotExist')
        subtractFrom(
          result,
          this.#having(requirement, operator === 'NotIn' ? requirement.values : undefined),
        );
      else if (operator === 'Gt' || operator === 'Lt') this.#keepComparing(result, requirement);
      else
        intersectWith(result, this.#having(requirement, operator === 'In' ? requirement.values : undefined));
    }
    return result;
  }

  /** Clusters whose `key` has exactly this value. Shared: do not change it. */
  withValue(key: string, value: string): Bitset {
    return this.#key(key).bitsOf(value);
  }

  /** A number per cluster: 0 when the key is absent, else one number per distinct value. */
  column(key: string): Int32Array {
    return this.#key(key).column;
  }

  /** The number that `column` uses for a value. */
  valueNumber(key: string, value: string): number {
    return this.#key(key).id(value);
  }

  /** Brings all indexed keys of one cluster up to date after its object changed. */
  refresh(index: number): void {
    for (const [key, keyIndex] of this.#keys) keyIndex.put(index, this.#read(index, key));
  }

  #having(requirement: Requirement, values: readonly string[] | undefined): Bitset {
    const keyIndex = this.#key(requirement.key);
    if (values === undefined) return keyIndex.present;
    if (values.length === 1) return keyIndex.bitsOf(values[0] as string);
    const union = makeBitset(this.#size);
    for (const value of values) uniteWith(union, keyIndex.bitsOf(value));
    return union;
  }

  #keepComparing(result: Bitset, requirement: Requirement): void {
    for (let i = 0; i < this.#size; i++) {
      if (!hasBit(result, i)) continue;
      const value = this.#read(i, requirement.key);
      const labels = value === undefined ? {} : { [requirement.key]: value };
      putBit(result, i, matchesRequirement(requirement, labels));
    }
  }

  #key(key: string): KeyIndex {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const fresh = new KeyIndex(this.#size);
    for (let i = 0; i < this.#size; i++) fresh.put(i, this.#read(i, key));
    this.#keys.set(key, fresh);
    return fresh;
  }
}

const ABSENT = 0;

class KeyIndex {
  readonly column: Int32Array;
  readonly present: Bitset;
  readonly #idOf = new Map<string, number>();
  readonly #bits = new Map<number, Bitset>();

  constructor(size: number) {
    this.column = new Int32Array(size);
    this.present = makeBitset(size);
  }

  put(index: number, value: string | undefined): void {
    const before = this.column[index] as number;
    const after = value === undefined ? ABSENT : this.id(value);
    if (before === after) return;
    this.column[index] = after;
    putBit(this.present, index, after !== ABSENT);
    const left = this.#bits.get(before);
    if (left !== undefined) putBit(left, index, false);
    const joined = this.#bits.get(after);
    if (joined !== undefined) putBit(joined, index, true);
  }

  bitsOf(value: string): Bitset {
    const id = this.id(value);
    const known = this.#bits.get(id);
    if (known !== undefined) return known;
    const bits = makeBitset(this.column.length);
    for (let i = 0; i < this.column.length; i++) if (this.column[i] === id) putBit(bits, i, true);
    this.#bits.set(id, bits);
    return bits;
  }

  id(value: string): number {
    const known = this.#idOf.get(value);
    if (known !== undefined) return known;
    const id = this.#idOf.size + 1;
    this.#idOf.set(value, id);
    return id;
  }
}
