import {
  MANAGED_CLUSTER,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { type ManifestWorkReplicaSet, REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { type PlacementDecision, placementOfDecision } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import { ownerLabelValue } from '../../core/work/replica-set/replica-set-child.ts';
import type { ObjectChange } from '@berth/kube/cache/object-store';
import type { IndexDefinition, ObjectCache } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import { SUBSTITUTE_ANNOTATION } from '../../core/work/replica-set/substitute-cluster.ts';
import { DECISIONS_BY_CLUSTER } from '../inventory/decisions-by-cluster.ts';
import { refusedKindText } from '@berth/kube/cache/reflector-options';
import { SERVE_RIGHTS } from '../../core/rbac/rights-command.ts';

/** By owner label. */
const WORKS_BY_OWNER: IndexDefinition = {
  kind: MANIFEST_WORK,
  keysOf: (work) => work.metadata.labels?.[REPLICA_SET_LABEL],
};
/** By `namespace/placement`. */
const DECISIONS_BY_PLACEMENT: IndexDefinition = { kind: PLACEMENT_DECISION, keysOf: placementOfDecision };
/** By owner label. There is one replica set for a label, unless two names are shortened to the same label. */
const REPLICA_SETS_BY_LABEL: IndexDefinition = {
  kind: MANIFEST_WORK_REPLICA_SET,
  keysOf: (replicaSet) => ownerLabelValue(replicaSet.metadata),
};
const REPLICA_SETS_BY_PLACEMENT: IndexDefinition = {
  kind: MANIFEST_WORK_REPLICA_SET,
  keysOf: placementKeys,
};

/** The hub as the work controllers see it: an indexed view of the cache of the process. */
export class WorkInventory {
  readonly replicaSets: Reflector;
  readonly works: Reflector;
  readonly placements: Reflector;
  readonly decisions: Reflector;
  readonly clusters: Reflector;
  readonly #children;
  readonly #decisionsOf;
  readonly #decisionsNaming;
  readonly #byLabel;
  readonly #byPlacement;

  constructor(cache: ObjectCache) {
    this.replicaSets = cache.of(MANIFEST_WORK_REPLICA_SET);
    this.works = cache.of(MANIFEST_WORK);
    this.placements = cache.of(PLACEMENT);
    this.decisions = cache.of(PLACEMENT_DECISION);
    this.clusters = cache.of(MANAGED_CLUSTER);
    this.#children = cache.index(WORKS_BY_OWNER);
    this.#decisionsOf = cache.index(DECISIONS_BY_PLACEMENT);
    this.#decisionsNaming = cache.index(DECISIONS_BY_CLUSTER);
    this.#byLabel = cache.index(REPLICA_SETS_BY_LABEL);
    this.#byPlacement = cache.index(REPLICA_SETS_BY_PLACEMENT);
  }

  get reflectors(): readonly Reflector[] {
    return [this.replicaSets, this.works, this.placements, this.decisions, this.clusters];
  }

  /**
   * Kinds that the hub refuses to list. The controllers do nothing until each kind has been listed
   * once.
   */
  warnings(): readonly string[] {
    return this.reflectors.flatMap(({ kind, failure, synced }) => {
      if (failure === undefined) return [];
      const consequence = synced ? 'Berth lists it again within 30 s' : 'until then no works are written';
      return [`works: ${refusedKindText(kind, failure, SERVE_RIGHTS)}; ${consequence}`];
    });
  }

  replicaSet(key: string): ManifestWorkReplicaSet | undefined {
    return this.replicaSets.store.get(key) as ManifestWorkReplicaSet | undefined;
  }

  childrenOf(replicaSet: ManifestWorkReplicaSet): readonly ManifestWork[] {
    return this.#children.get(ownerLabelValue(replicaSet.metadata)) as unknown as readonly ManifestWork[];
  }

  placement(namespace: string, name: string): Placement | undefined {
    return this.placements.store.get(`${namespace}/${name}`) as Placement | undefined;
  }

  decisionsOf(namespace: string, placement: string): readonly PlacementDecision[] {
    return this.#decisionsOf.get(`${namespace}/${placement}`) as unknown as readonly PlacementDecision[];
  }

  cluster(name: string): ManagedCluster | undefined {
    return this.clusters.store.get(name) as ManagedCluster | undefined;
  }

  /** Replica sets whose templates use values of their clusters. */
  substitutingReplicaSets(): readonly string[] {
    return this.replicaSets.store
      .list()
      .filter(({ metadata }) => metadata.annotations?.[SUBSTITUTE_ANNOTATION] === 'true')
      .map(({ metadata }) => namespacedName(metadata));
  }

  /** Replica sets whose placements select the cluster. */
  replicaSetsOn(cluster: string): readonly string[] {
    const placements = this.#decisionsNaming
      .get(cluster)
      .map((decision) => placementOfDecision(decision) ?? '');
    const replicaSets = placements.flatMap((placement) => this.#byPlacement.get(placement));
    return [...new Set(replicaSets.map(({ metadata }) => namespacedName(metadata)))];
  }

  /** Replica sets that an event of another kind may concern. */
  replicaSetsOf(change: ObjectChange, kind: 'work' | 'placement' | 'decision'): readonly string[] {
    const keys = [change.before, change.after].flatMap((object) => {
      if (object === undefined) return [];
      if (kind === 'placement') return this.#byPlacement.get(namespacedName(object.metadata));
      if (kind === 'decision') return this.#byPlacement.get(placementOfDecision(object) ?? '');
      return this.#byLabel.get(object.metadata.labels?.[REPLICA_SET_LABEL] ?? '');
    });
    return [...new Set(keys.map(({ metadata }) => namespacedName(metadata)))];
  }
}

function placementKeys(replicaSet: KubeObject): readonly string[] {
  const { spec } = replicaSet as unknown as Partial<ManifestWorkReplicaSet>;
  return (spec?.placementRefs ?? []).map(({ name }) => `${replicaSet.metadata.namespace ?? ''}/${name}`);
}

/**
 * Reduces a ManifestWork in the cache to the fields that the work controllers read, since manifests
 * are most of its size. Works of replica sets keep their spec, which is compared, handed over and
 * updated. Of other works only `deleteOption` is read.
 */
export function trimWork(object: KubeObject): KubeObject {
  if (object.metadata.labels?.[REPLICA_SET_LABEL] !== undefined) return object;
  const { spec, ...rest } = object as unknown as ManifestWork;
  const deleteOption = spec?.deleteOption;
  return { ...rest, ...(deleteOption && { spec: { deleteOption } }) };
}
