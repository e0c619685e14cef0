import { type KeyIndex, SortedView } from '@berth/kube/cache/object-store';
import type { ObjectCache, IndexDefinition } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import {
  ADDON_PLACEMENT_SCORE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import { REPLICA_SET_LABEL, WORK_PLACEMENT_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { Placement } from '@berth/ocm/kind/placement';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { usesAddOnScores } from '@berth/placement/prioritize/score-expiry';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { Clock } from '@berth/runtime/clock/clock';
import { withHealthTaints } from '../../core/registration/health/health-taints.ts';
import { refusedKindText } from '@berth/kube/cache/reflector-options';
import { SERVE_RIGHTS } from '../../core/rbac/rights-command.ts';
import { withForeignDisabled, withSchedulingEnabled } from './schedulable-placement.ts';

/** By placement and cluster; see `worksKey`. */
export const WORKS_BY_PLACEMENT: IndexDefinition = {
  kind: MANIFEST_WORK,
  keysOf: ({ metadata }) => {
    const placement = placementOfWork(metadata);
    const { namespace } = metadata;
    return placement && namespace ? worksKey(placement, namespace) : undefined;
  },
};

export interface InventoryOptions {
  /** The caller starts it. Other parts of the process read from it, too. */
  readonly cache: ObjectCache;
  readonly clock: Pick<Clock, 'now'>;
  /** If the hub has not confirmed a kind for this long, every change is held. Default: 5 min. */
  readonly staleAfterMs?: number | undefined;
  /**
   * Which placements are decided: those with Berth's annotation, or also those without it. Default `all`.
   */
  readonly decides?: 'own' | 'all' | undefined;
  /** Whether this process taints clusters by their health. Then decisions see these taints before they are written. */
  readonly taintsClusters?: boolean | undefined;
}

export const DEFAULT_STALE_AFTER_MS = 300_000;
/** A watch that the server ended is open again within this time. */
const REOPENED_MS = 5_000;

/** The inputs of decisions, and whether they are fresh enough. A view of the cache of the process. */
export class HubInventory {
  readonly clusters: Reflector;
  readonly clusterSets: Reflector;
  readonly bindings: Reflector;
  readonly placements: Reflector;
  readonly decisions: Reflector;
  readonly scores: Reflector;
  readonly works: Reflector;
  readonly #worksByPlacement: KeyIndex;
  readonly #options: InventoryOptions;
  readonly #sorted;

  constructor(options: InventoryOptions) {
    this.#options = options;
    const { cache, decides, taintsClusters = false } = options;
    const read = decides === 'own' ? withForeignDisabled : withSchedulingEnabled;
    this.clusters = cache.of(MANAGED_CLUSTER);
    this.clusterSets = cache.of(MANAGED_CLUSTER_SET);
    this.bindings = cache.of(MANAGED_CLUSTER_SET_BINDING);
    this.placements = cache.of(PLACEMENT);
    this.decisions = cache.of(PLACEMENT_DECISION);
    this.scores = cache.of(ADDON_PLACEMENT_SCORE);
    this.works = cache.of(MANIFEST_WORK);
    this.#worksByPlacement = cache.index(WORKS_BY_PLACEMENT);
    this.#sorted = {
      placements: sorted(this.placements, (object) => read(object as unknown as Placement)),
      clusters: sorted(this.clusters, (object) => {
        const cluster = object as unknown as ManagedCluster;
        return taintsClusters ? withHealthTaints(cluster) : cluster;
      }),
      clusterSets: sorted<ManagedClusterSet>(this.clusterSets),
      bindings: sorted<ManagedClusterSetBinding>(this.bindings),
      decisions: sorted<PlacementDecision>(this.decisions),
      scores: sorted<AddOnPlacementScore>(this.scores),
    };
  }

  get reflectors(): readonly Reflector[] {
    const { clusters, clusterSets, bindings, placements, decisions, scores, works } = this;
    return [clusters, clusterSets, bindings, placements, decisions, scores, works];
  }

  /** The kinds that decisions are made from, without PlacementDecisions. */
  get inputs(): readonly Reflector[] {
    const { clusters, clusterSets, bindings, placements, scores } = this;
    return [clusters, clusterSets, bindings, placements, scores];
  }

  get synced(): boolean {
    return this.reflectors.every((reflector) => reflector.synced);
  }

  /**
   * Resolves when the placements and their pages have been read, and every other kind was read or refused.
   */
  async whenSynced(signal: AbortSignal): Promise<void> {
    const needed = [this.placements, this.decisions];
    await Promise.all(
      this.reflectors.map((reflector) =>
        needed.includes(reflector) ? reflector.whenSynced(signal) : reflector.whenListedOrRefused(signal),
      ),
    );
  }

  /**
   * Reads the published decisions again, because a watch may be behind the last writes of another
   * process. Does nothing before the first read.
   */
  async readPublished(signal: AbortSignal): Promise<void> {
    const read = [this.placements, this.decisions].filter(({ synced }) => synced);
    await Promise.all(read.map((reflector) => reflector.relist(signal)));
  }

  /**
   * Lists the inputs of decisions again.
   * @returns by kind: resolves when it was listed or refused, or when the signal aborts
   */
  listInputs(signal: AbortSignal): ReadonlyMap<string, Promise<void>> {
    return new Map(this.inputs.map((reflector) => [reflector.kind.kind, reflector.relist(signal)]));
  }

  /** Milliseconds since the last confirmation of the kind that was confirmed longest ago. */
  stalenessMs(): number {
    return Math.max(...this.reflectors.map((reflector) => reflector.stalenessMs()));
  }

  /** Why no decision may be made from the inventory; undefined when it is fresh. */
  problem(): string | undefined {
    return firstOf(this.#needed, (reflector) => this.#problemOf(reflector));
  }

  /**
   * Why what is published may not be served; undefined when it may. A refusal counts as long as an outage, because an
   * API server that starts refuses everything until it has read its roles.
   */
  servingProblem(): string | undefined {
    return firstOf(this.#needed, (reflector) =>
      this.#isConfirmed(reflector) ? undefined : this.#problemOf(reflector),
    );
  }

  get #needed(): readonly Reflector[] {
    const { clusters, clusterSets, bindings, placements, decisions } = this;
    return [placements, decisions, clusters, clusterSets, bindings];
  }

  /** How old the inventory may be, for those who only read it; undefined if it is current. */
  age(): string | undefined {
    const isBehind = ({ synced, failure, isCurrent }: Reflector): boolean =>
      synced && failure === undefined && !isCurrent;
    const behind = [...this.inputs, this.decisions].find(
      (reflector) => isBehind(reflector) && reflector.stalenessMs() > REOPENED_MS,
    );
    return this.problem() ?? (behind && confirmedText(behind));
  }

  /** Why Berth must not decide this placement. */
  problemFor(placement: Placement): string | undefined {
    return this.problem() ?? (usesAddOnScores(placement) ? this.#problemOf(this.scores) : undefined);
  }

  /**
   * The works of a placement on a cluster.
   * @param placement `namespace/name`
   */
  worksOf(placement: string, cluster: string): readonly KubeObject[] {
    return this.#worksByPlacement.get(worksKey(placement, cluster));
  }

  /** Why the readiness of works is unknown; undefined if it is known. */
  worksProblem(): string | undefined {
    return this.#problemOf(this.works);
  }

  /** Missing inputs that affect only what depends on them. */
  warnings(): readonly string[] {
    const scores = this.#problemOf(this.scores);
    const works = this.worksProblem();
    const refused = this.reflectors.flatMap(({ kind, failure }) =>
      failure?.verb === 'watch'
        ? `${refusedKindText(kind, failure, SERVE_RIGHTS)}; Berth lists it periodically instead`
        : [],
    );
    const problem = this.servingProblem() === undefined ? this.problem() : undefined;
    return [
      ...(problem === undefined ? [] : [`${problem}; until then every change is held`]),
      ...(scores === undefined
        ? []
        : [`${scores}; until then changes of placements that use scores of add-ons are held`]),
      ...(works === undefined ? [] : [`${works}; until then handovers wait`]),
      ...refused,
    ];
  }

  #problemOf(reflector: Reflector): string | undefined {
    const { kind, failure, synced } = reflector;
    if (failure?.verb === 'list') return refusedKindText(kind, failure, SERVE_RIGHTS);
    if (!synced) return `${kind.plural} have not been read yet`;
    if (this.#isConfirmed(reflector)) return undefined;
    return `${confirmedText(reflector)} (limit ${Math.round(this.#staleAfterMs / 1000)} s)`;
  }

  get #staleAfterMs(): number {
    return this.#options.staleAfterMs ?? DEFAULT_STALE_AFTER_MS;
  }

  #isConfirmed(reflector: Reflector): boolean {
    return reflector.stalenessMs() <= this.#staleAfterMs;
  }

  /** Everything that a decision may depend on, sorted, so that the order of arrival does not matter. */
  snapshot(): Snapshot {
    const { placements, clusters, clusterSets, bindings, decisions, scores } = this.#sorted;
    return {
      now: new Date(this.#options.clock.now()).toISOString(),
      placements: placements.list(),
      clusters: clusters.list(),
      clusterSets: clusterSets.list(),
      bindings: bindings.list(),
      decisions: decisions.list(),
      scores: scores.list(),
    };
  }
}

function firstOf(
  reflectors: readonly Reflector[],
  problemOf: (reflector: Reflector) => string | undefined,
): string | undefined {
  for (const reflector of reflectors) {
    const problem = problemOf(reflector);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function confirmedText(reflector: Reflector): string {
  return `${reflector.kind.plural} were last confirmed ${Math.round(reflector.stalenessMs() / 1000)} s ago`;
}

function sorted<T>(
  { store }: Reflector,
  read: (object: KubeObject) => T = (object) => object as unknown as T,
): SortedView<T> {
  return new SortedView(store, read);
}

/** `namespace/name` of the placement that a work of a replica set is made for. */
export function placementOfWork({ labels }: Pick<ObjectMeta, 'labels'>): string | undefined {
  // The label is `NAMESPACE.NAME` of the replica set, which has the same namespace as its placements.
  const [owner] = (labels?.[REPLICA_SET_LABEL] ?? '').split('.', 1);
  const placement = labels?.[WORK_PLACEMENT_LABEL];
  return owner && placement ? `${owner}/${placement}` : undefined;
}

/** @param placement `namespace/name` */
export function worksKey(placement: string, cluster: string): string {
  return `${placement} ${cluster}`;
}
