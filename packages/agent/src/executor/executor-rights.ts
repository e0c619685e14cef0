import { Reflector } from '@berth/kube/cache/reflector';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import { type Executor, isSubject, type RbacSubject } from '../rules/applied/executor-subject.ts';

export interface ExecutorRightsOptions {
  readonly cluster: KubeApi;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/** How long a result is trusted. Rights may also come from other authorizers of the API server, which no watch covers. */
const RESULT_TTL_MS = 600_000;
/** A watch that received nothing for longer may have missed a revocation. Servers send something about every minute. */
const MAX_STALENESS_MS = 150_000;
const MAX_RESULTS = 10_000;

interface ReviewResult {
  readonly allowed: boolean;
  readonly atMs: number;
}

interface CachedResults {
  readonly executor: Executor;
  readonly results: Map<string, ReviewResult>;
}

/**
 * Caches access reviews of executors while the RBAC objects that they depend on are unchanged. A
 * changed binding invalidates the results for its subjects (by name or by group), a changed role
 * all results. The cache is not used before the watches are established, or when they received
 * nothing for too long.
 */
export class ExecutorRights {
  readonly #options: ExecutorRightsOptions;
  readonly #byExecutor = new Map<string, CachedResults>();
  readonly #stop = new AbortController();
  #watches: readonly Reflector[] | undefined;
  #size = 0;

  constructor(options: ExecutorRightsOptions) {
    this.#options = options;
  }

  /**
   * The cached result of a review, or that of `sendReview`.
   * @param reviewId identifies the object and the verb
   */
  async allowed(executor: Executor, reviewId: string, sendReview: () => Promise<boolean>): Promise<boolean> {
    // Started with the first review, because works without an executor need no watches.
    this.#watches ??= this.#watch();
    // A right could be revoked before the watches are established, without an event.
    if (!this.#isCurrent()) return sendReview();
    const before = this.#resultsOf(executor);
    const nowMs = this.#options.clock.now();
    const result = before.results.get(reviewId);
    if (result !== undefined && nowMs - result.atMs < RESULT_TTL_MS) return result.allowed;
    const allowed = await sendReview();
    // The response may or may not include a change that happened during the request.
    const { results } = this.#resultsOf(executor);
    if (results !== before.results) return allowed;
    if (!results.has(reviewId)) this.#limitSize();
    this.#resultsOf(executor).results.set(reviewId, { allowed, atMs: nowMs });
    return allowed;
  }

  close(): void {
    this.#stop.abort();
    this.#byExecutor.clear();
  }

  #resultsOf(executor: Executor): CachedResults {
    const key = `${executor.namespace}/${executor.name}`;
    let cached = this.#byExecutor.get(key);
    if (cached === undefined) {
      cached = { executor, results: new Map() };
      this.#byExecutor.set(key, cached);
    }
    return cached;
  }

  /** Empties a full cache. A review is cheap, so the cache does not track which results are used most. */
  #limitSize(): void {
    if (this.#size >= MAX_RESULTS) this.#forget(() => true);
    this.#size += 1;
  }

  #isCurrent(): boolean {
    return this.#watches?.every((watch) => watch.synced && watch.stalenessMs() < MAX_STALENESS_MS) ?? false;
  }

  #watch(): readonly Reflector[] {
    const { cluster, clock, random, log } = this.#options;
    return RBAC_KINDS.map((kind) => {
      const reflector = new Reflector({ api: cluster, kind, clock, random, log });
      reflector.store.onChange(({ before, after }) => this.#onChange(before, after));
      void reflector.run(this.#stop.signal);
      return reflector;
    });
  }

  #onChange(before: KubeObject | undefined, after: KubeObject | undefined): void {
    if (sameRights(before, after)) return;
    const subjects = [...subjectsOf(before), ...subjectsOf(after)];
    const isRole = [before, after].some((object) => object !== undefined && !('roleRef' in object));
    this.#forget((executor) => isRole || subjects.some((subject) => isSubject(subject, executor)));
  }

  #forget(isAffected: (executor: Executor) => boolean): void {
    for (const [key, { executor, results }] of this.#byExecutor) {
      if (!isAffected(executor)) continue;
      this.#size -= results.size;
      this.#byExecutor.delete(key);
    }
  }
}

function sameRights(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  const parts = (object: KubeObject | undefined): unknown =>
    object === undefined ? undefined : [object['rules'], object['roleRef'], object['subjects']];
  return jsonEqual(parts(before), parts(after));
}

function subjectsOf(binding: KubeObject | undefined): readonly RbacSubject[] {
  const namespace = binding?.metadata.namespace;
  const subjects = (binding?.['subjects'] ?? []) as readonly RbacSubject[];
  return subjects.map((subject) => ({ namespace, ...subject }));
}

const RBAC_KINDS: readonly KindInfo[] = (
  [
    ['Role', true],
    ['RoleBinding', true],
    ['ClusterRole', false],
    ['ClusterRoleBinding', false],
  ] as const
).map(([kind, namespaced]) => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced,
}));
