import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { parseQuantity, quantityToNumber } from '@berth/kube/model/quantity';
import { AttributeIndex } from './attribute-index.ts';

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
