import type { IndexDefinition, ObjectCache } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import { refusedKindText } from '@berth/kube/cache/reflector-options';
import { findCondition } from '@berth/kube/model/condition-list';
import { MANAGED_CLUSTER, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { type ManagedCluster, takesWork } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import { type Application, APPLICATION, asApplication } from '../../../core/argocd/argocd-kinds.ts';
import {
  planPull,
  type PulledWorkWritten,
  type PullHeld,
  type WorkToRemove,
} from '../../../core/argocd/pull/plan-pull.ts';
import { hubApplicationOf, pullCluster, removalGroup } from '../../../core/argocd/pull/pull-target.ts';
import type { Digest } from '../../../core/publish/approval/approval-code.ts';
import type { RemovalBudget, RemovalMemory } from '../../../core/publish/judge/removal-budget.ts';
import { SERVE_RIGHTS } from '../../../core/rbac/rights-command.ts';

const asWork = (object: KubeObject): ManifestWork => object as unknown as ManifestWork;

/** By `namespace/name` of the Application on the hub. */
const WORKS_BY_APPLICATION: IndexDefinition = {
  kind: MANIFEST_WORK,
  keysOf: (work) => hubApplicationOf(asWork(work)),
};
/** By the group that a removal counts in. */
const WORKS_BY_GROUP: IndexDefinition = {
  kind: MANIFEST_WORK,
  keysOf: (work) => removalGroup(asWork(work)),
};
/** By managed cluster. */
const APPLICATIONS_BY_CLUSTER: IndexDefinition = {
  kind: APPLICATION,
  keysOf: (application) => pullCluster(asApplication(application)),
};

/** What the pull controller reads of the hub: a view of the cache of the process. */
export class PullInventory {
  readonly applications: Reflector;
  readonly works: Reflector;
  readonly clusters: Reflector;
  readonly #worksOf;
  readonly #worksOfGroup;
  readonly #applicationsOf;

  constructor(cache: ObjectCache) {
    this.applications = cache.of(APPLICATION);
    this.works = cache.of(MANIFEST_WORK);
    this.clusters = cache.of(MANAGED_CLUSTER);
    this.#worksOf = cache.index(WORKS_BY_APPLICATION);
    this.#worksOfGroup = cache.index(WORKS_BY_GROUP);
    this.#applicationsOf = cache.index(APPLICATIONS_BY_CLUSTER);
  }

  get reflectors(): readonly Reflector[] {
    return [this.applications, this.works, this.clusters];
  }

  /** Kinds that the hub refuses to list or watch. Nothing is written until each kind has been listed once. */
  warnings(): readonly string[] {
    return this.reflectors.flatMap(({ kind, failure, synced }) => {
      if (failure === undefined) return [];
      const consequence = synced ? 'Berth lists it again within 30 s' : 'until then no Application is pulled';
      return [`pull model: ${refusedKindText(kind, failure, SERVE_RIGHTS)}; ${consequence}`];
    });
  }

  application(key: string): Application | undefined {
    const object = this.applications.store.get(key);
    return object === undefined ? undefined : asApplication(object);
  }

  worksOf(application: string): readonly ManifestWork[] {
    return this.#worksOf.get(application).map(asWork);
  }

  worksOfGroup(group: string): readonly ManifestWork[] {
    return this.#worksOfGroup.get(group).map(asWork);
  }

  /** Keys of the Applications that the cluster should pull. */
  applicationsOf(cluster: string): readonly string[] {
    return this.#applicationsOf.get(cluster).map(({ metadata }) => namespacedName(metadata));
  }

  cluster(name: string): ManagedCluster | undefined {
    return this.clusters.store.get(name) as ManagedCluster | undefined;
  }

  takesWork(name: string): boolean {
    return takesWork(this.cluster(name));
  }

  /** Works of the Application that have to go, as the cache shows it. */
  leavingOf(application: string): readonly WorkToRemove[] {
    return planPull({
      application: this.application(application),
      works: this.worksOf(application),
      takesWork: (name) => this.takesWork(name),
    }).leaving;
  }

  /** Works with a deletion timestamp, whose cluster has not confirmed the removal. */
  unconfirmedRemovals(): readonly ManifestWork[] {
    return this.works.store
      .list()
      .map(asWork)
      .filter((work) => work.metadata.deletionTimestamp !== undefined && removalGroup(work) !== undefined);
  }

  /** Whether the cluster is unknown to the hub, or does not renew its lease. */
  isUnreachable(name: string): boolean {
    return isUnreachable(this.cluster(name));
  }
}

export function isUnreachable(cluster: ManagedCluster | undefined): boolean {
  const available = findCondition(cluster?.status?.conditions, 'ManagedClusterConditionAvailable');
  return cluster === undefined || (available !== undefined && available.status !== 'True');
}

export interface PullOptions {
  readonly hub: KubeApi;
  /** The cache of the same hub. It keeps the specs of works that carry Applications. The caller starts it. */
  readonly cache: ObjectCache;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly digest: Digest;
  readonly budget: RemovalBudget;
  readonly removals: RemovalMemory;
  /** Awaited before each pass. Default: no wait. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onWrite?: ((event: PulledWorkWritten) => void) | undefined;
  readonly onHeld?: ((held: PullHeld) => void) | undefined;
  readonly onError?: ((key: string, error: unknown) => void) | undefined;
}

export const PULL_FIELD_MANAGER = { fieldManager: 'berth-pull' } as const;

/** The groups whose removals are held. */
export class HeldRemovals {
  readonly #held = new Map<string, PullHeld & { readonly applications: ReadonlySet<string> }>();

  get all(): readonly PullHeld[] {
    return [...this.#held.values()].sort((a, b) => (a.group < b.group ? -1 : 1));
  }

  /** Why works of the Application are not removed; undefined if no removal is held. */
  messageOf(application: string): string | undefined {
    for (const { applications, message } of this.#held.values())
      if (applications.has(application)) return message;
    return undefined;
  }

  /** @returns whether this hold is new or has another token */
  hold(held: PullHeld, applications: ReadonlySet<string>): boolean {
    const before = this.#held.get(held.group);
    this.#held.set(held.group, { ...held, applications });
    return before?.token !== held.token;
  }

  /** @returns the Applications that were held until now */
  release(group: string): Iterable<string> {
    const applications = this.#held.get(group)?.applications ?? [];
    this.#held.delete(group);
    return applications;
  }
}
