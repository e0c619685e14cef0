import {
  type ManifestWorkReplicaSet,
  REPLICA_SET_LABEL,
  WORK_PLACEMENT_LABEL,
} from '@berth/ocm/kind/manifest-work-replica-set';
import { namespacedName } from '@berth/kube/model/object-ref';
import { ownerLabelValue } from '../work/replica-set/replica-set-names.ts';
import type { PlanSide } from './plan-input.ts';

/** By `namespace/name` of a placement. */
type Published = ReadonlyMap<string, readonly string[]>;
/** Clusters of a replica set, by the name of the placement that selected them. */
type Works = ReadonlyMap<string, readonly string[]>;

/** The placements that the replica set refers to, each once. */
function placementNamesOf({ spec }: ManifestWorkReplicaSet): readonly string[] {
  return [...new Set(spec.placementRefs.map(({ name }) => name))];
}

/** `namespace/name` of each placement of a replica set. */
export function placementsOf(replicaSet: ManifestWorkReplicaSet): readonly string[] {
  const { namespace } = replicaSet.metadata;
  return placementNamesOf(replicaSet).map((name) => namespacedName({ namespace, name }));
}

/** The clusters on which replica sets have works, before a merge and after it: the rules of `planReplicaSet`. */
export class ReplicaSetWorks {
  readonly #published: Published;
  /** By owner label. If undefined (unknown), the published clusters count. */
  readonly #works: ReadonlyMap<string, Works> | undefined;

  /** @param published before the merge */
  constructor(published: Published, works: PlanSide['works']) {
    this.#published = published;
    this.#works = works && worksByOwner(works);
  }

  /** The clusters before the merge. */
  before(replicaSet: ManifestWorkReplicaSet): readonly string[] {
    return [...this.#worksOf(replicaSet).values()].flat();
  }

  /**
   * The clusters after the merge. If a placement is missing, the works that came from it stay, and so do the works of a placement that is no longer
   * referenced: the reference may be misspelt.
   * @param onHub the works before the merge; undefined if the replica set did not exist
   * @param published after the merge, for each placement that exists
   */
  after(
    replicaSet: ManifestWorkReplicaSet,
    onHub: ManifestWorkReplicaSet | undefined,
    published: Published,
  ): readonly string[] {
    const works = onHub === undefined ? NO_WORKS : this.#worksOf(onHub);
    const { namespace } = replicaSet.metadata;
    const referenced = placementNamesOf(replicaSet);
    const clustersAfter = referenced.map((name) => published.get(namespacedName({ namespace, name })));
    const selected = referenced.flatMap((name, at) => clustersAfter[at] ?? works.get(name) ?? []);
    if (!clustersAfter.includes(undefined)) return selected;
    const others = [...works].filter(([name]) => !referenced.includes(name));
    return [...selected, ...others.flatMap(([, clusters]) => clusters)];
  }

  #worksOf(replicaSet: ManifestWorkReplicaSet): Works {
    const { namespace } = replicaSet.metadata;
    if (this.#works !== undefined) return this.#works.get(ownerLabelValue(replicaSet.metadata)) ?? NO_WORKS;
    const publishedOf = (name: string): readonly string[] =>
      this.#published.get(namespacedName({ namespace, name })) ?? [];
    return new Map(placementNamesOf(replicaSet).map((name) => [name, publishedOf(name)]));
  }
}

const NO_WORKS: Works = new Map();

function worksByOwner(works: NonNullable<PlanSide['works']>): ReadonlyMap<string, Works> {
  const owners = new Map<string, Map<string, string[]>>();
  for (const { metadata } of works) {
    const { [REPLICA_SET_LABEL]: owner, [WORK_PLACEMENT_LABEL]: placement = '' } = metadata.labels ?? {};
    if (owner === undefined) continue;
    const own = owners.get(owner) ?? new Map<string, string[]>();
    owners.set(owner, own);
    own.set(placement, [...(own.get(placement) ?? []), metadata.namespace ?? '']);
  }
  return owners;
}
