import type { IndexDefinition, ObjectCache } from '@berth/kube/cache/object-cache';
import type { KeyIndex } from '@berth/kube/cache/object-store';
import type { Reflector } from '@berth/kube/cache/reflector';
import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ClusterManagementAddOn, ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement } from '@berth/ocm/kind/placement';
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  type PlacementDecision,
} from '@berth/ocm/kind/placement-decision';
import { placementOfDecision } from '@berth/ocm/kind/placement-decision';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { isManagedHere, readAddOn, readClusterAddOn } from '@berth/addon/rules/addon-versions';
import type { AddOnEvent } from '../../core/addon/addon-duties.ts';
import type { Digest } from '../../core/publish/approval/approval-code.ts';
import type { RemovalBudget, RemovalMemory } from '../../core/publish/judge/removal-budget.ts';
import type {
  PublishedPlacement,
  PublishedPlacements,
} from '../../core/publish/pages/published-placements.ts';
import type { AddOnOptions } from '@berth/addon/manager/addon-controller';
import type { PlacementSelection } from '@berth/addon/rules/plan-install';
import { isOfOtherScheduler } from '../inventory/schedulable-placement.ts';

/** What is needed to install add-ons by placement, and to configure them. */
export interface AddOnManagerOptions extends AddOnOptions {
  readonly onEvent?: ((event: AddOnEvent) => void) | undefined;
  /** What the placements of the hub select, complete decisions only. */
  readonly published: Pick<PublishedPlacements, 'get' | 'onChange'>;
  /** The placements that Berth decides: those with its annotation, all, or none. */
  readonly decides: 'own' | 'all' | 'none';
  /** How many clusters may lose an add-on at once. */
  readonly budget: RemovalBudget;
  readonly removals: RemovalMemory;
  /** Whether a commit is being applied, or what came of it is not published yet. */
  readonly isFollowing: () => boolean;
  readonly digest: Digest;
}

/** By the name of the add-on. */
const ADDONS_BY_NAME: IndexDefinition = {
  kind: MANAGED_CLUSTER_ADDON,
  keysOf: ({ metadata }) => metadata.name,
};
/** By `namespace/placement`. */
const DECISIONS_BY_PLACEMENT: IndexDefinition = { kind: PLACEMENT_DECISION, keysOf: placementOfDecision };

/** Events that belong together arrive within this time, so that an add-on is planned once. */
const GATHER_MS = 250;

/** The hub as the controllers see it that work on all clusters of an add-on at once. */
export class AddOnInventory {
  readonly addOns: Reflector;
  readonly clusterAddOns: Reflector;
  readonly placements: Reflector;
  readonly decisions: Reflector;
  readonly clusters: Reflector;
  readonly #options: Pick<AddOnManagerOptions, 'published' | 'decides'>;
  readonly #byName: KeyIndex;
  readonly #decisionsOf: KeyIndex;

  constructor(options: Pick<AddOnManagerOptions, 'published' | 'decides'> & { readonly cache: ObjectCache }) {
    const { cache } = options;
    this.#options = options;
    this.addOns = cache.of(CLUSTER_MANAGEMENT_ADDON);
    this.clusterAddOns = cache.of(MANAGED_CLUSTER_ADDON);
    this.placements = cache.of(PLACEMENT);
    this.decisions = cache.of(PLACEMENT_DECISION);
    this.clusters = cache.of(MANAGED_CLUSTER);
    this.#byName = cache.index(ADDONS_BY_NAME);
    this.#decisionsOf = cache.index(DECISIONS_BY_PLACEMENT);
  }

  get reflectors(): readonly Reflector[] {
    return [this.addOns, this.clusterAddOns, this.placements, this.decisions, this.clusters];
  }

  addOn(name: string): ClusterManagementAddOn | undefined {
    const object = this.addOns.store.get(name);
    return object === undefined ? undefined : readAddOn(object);
  }

  /** By cluster: as the hub has them. */
  stored(addOn: string): ReadonlyMap<string, KubeObject> {
    return new Map(this.#byName.get(addOn).map((object) => [object.metadata.namespace ?? '', object]));
  }

  /** By cluster. */
  installed(addOn: string): ReadonlyMap<string, ManagedClusterAddOn> {
    return new Map([...this.stored(addOn)].map(([cluster, object]) => [cluster, readClusterAddOn(object)]));
  }

  cluster(name: string): ManagedCluster | undefined {
    return this.clusters.store.get(name) as ManagedCluster | undefined;
  }

  placement(namespace: string, name: string): Placement | undefined {
    return this.placements.store.get(`${namespace}/${name}`) as Placement | undefined;
  }

  /**
   * What a placement selects. What is published is complete: pages of one decision count together. Only a placement that another
   * scheduler decides beside Berth is read from its pages.
   */
  selectionOf({
    namespace,
    name,
  }: {
    readonly namespace: string;
    readonly name: string;
  }): PlacementSelection {
    const key = `${namespace}/${name}`;
    const placement = this.placement(namespace, name);
    if (placement === undefined) return { kind: 'missing' };
    const published = this.#options.published.get(key);
    if (published !== undefined) return { kind: 'decided', decisions: pagesOf(published) };
    const isOthers = this.#options.decides === 'own' && isOfOtherScheduler(placement);
    const decisions = this.#decisionsOf.get(key) as unknown as readonly PlacementDecision[];
    return isOthers && decisions.length > 0 ? { kind: 'decided', decisions } : { kind: 'undecided' };
  }

  /**
   * Adds the names of all add-ons, and of those that a change may concern.
   * @param readsOf what the caller reads of the add-on of a cluster: a change of something else concerns nobody
   */
  follow(queue: WorkQueue, readsOf: (addon: ManagedClusterAddOn) => unknown): void {
    const soon = (name: string): void => queue.addAfter(name, GATHER_MS);
    const placed = (placement: string | undefined): void => {
      for (const object of this.addOns.store.list())
        if (placement === undefined || namesPlacement(readAddOn(object), placement))
          soon(object.metadata.name);
    };
    placed(undefined);
    this.addOns.store.onChange(({ key }) => soon(key));
    this.clusterAddOns.store.onChange(({ before, after }) => {
      const object = after ?? before;
      const isKnown =
        before !== undefined &&
        after !== undefined &&
        jsonEqual(readsOf(readClusterAddOn(before)), readsOf(readClusterAddOn(after)));
      if (object !== undefined && !isKnown) soon(object.metadata.name);
    });
    this.placements.store.onChange(({ key }) => placed(key));
    this.decisions.store.onChange(({ before, after }) => {
      for (const page of [before, after]) if (page !== undefined) placed(placementOfDecision(page) ?? '');
    });
    this.#options.published.onChange(placed);
  }
}

function namesPlacement(addOn: ClusterManagementAddOn, key: string): boolean {
  const placements = addOn.spec.installStrategy?.placements ?? [];
  return isManagedHere(addOn) && placements.some(({ namespace, name }) => `${namespace}/${name}` === key);
}

/** One page for each decision group, with what rollouts read of it. */
function pagesOf({ placement, groups }: PublishedPlacement): readonly PlacementDecision[] {
  const [namespace = '', name = ''] = placement.split('/');
  return groups.map((group) => ({
    apiVersion: apiVersionOf(PLACEMENT_DECISION),
    kind: 'PlacementDecision',
    metadata: {
      ...{ namespace, name: `${name}-decision-${group.index}` },
      labels: { [DECISION_GROUP_INDEX_LABEL]: `${group.index}`, [DECISION_GROUP_NAME_LABEL]: group.name },
    },
    status: { decisions: group.decisions },
  }));
}
