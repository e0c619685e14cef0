import { type KindInfo, SUBJECT_ACCESS_REVIEW } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import type { ExecutorRights } from './executor-rights.ts';
import { type Executor, serviceAccountUser } from '../rules/applied/executor-subject.ts';

export type ExecutorVerb = 'create' | 'update' | 'patch' | 'get' | 'delete';

/** An object of the managed cluster, with the fields that a SubjectAccessReview names. */
export interface ReviewedObject {
  readonly kind: Pick<KindInfo, 'group' | 'version' | 'plural'>;
  readonly key: ObjectKey;
}

/**
 * How long a result for `get` is cached, because the agent reads a work's objects with each of
 * their changes.
 */
export const GET_RESULT_TTL_MS = 60_000;
const MAX_GET_RESULTS = 10_000;

interface ReviewsOptions {
  readonly cluster: KubeApi;
  readonly clock: Clock;
  /**
   * Cache of results, invalidated when RBAC objects change. Undefined: each check calls the API
   * server.
   */
  readonly rights: ExecutorRights | undefined;
}

/** Checks by SubjectAccessReview on the managed cluster whether the executor of a work may read or write an object. */
export class ExecutorReviews {
  readonly #options: ReviewsOptions;
  readonly #getResults = new Map<string, { readonly allowed: boolean; readonly atMs: number }>();

  constructor(options: ReviewsOptions) {
    this.#options = options;
  }

  /**
   * Whether the executor may use the verb on the object. Uses `rights` if given, otherwise the API
   * server.
   */
  async isAllowed(executor: Executor, verb: ExecutorVerb, object: ReviewedObject): Promise<boolean> {
    const { rights } = this.#options;
    const reviewId = reviewIdOf(verb, object);
    const send = (): Promise<boolean> => this.#sendReview(executor, verb, object);
    const allowed = rights === undefined ? await send() : await rights.allowed(executor, reviewId, send);
    if (verb === 'get') this.#cache(executor, reviewId, allowed);
    return allowed;
  }

  /**
   * Whether the executor may read the object. Without `rights`, a result is cached for
   * GET_RESULT_TTL_MS.
   */
  async isGetAllowed(executor: Executor, object: ReviewedObject): Promise<boolean> {
    if (this.#options.rights === undefined) {
      const cached = this.#getResults.get(resultKey(executor, reviewIdOf('get', object)));
      if (cached !== undefined && this.#options.clock.now() - cached.atMs < GET_RESULT_TTL_MS)
        return cached.allowed;
    }
    return this.isAllowed(executor, 'get', object);
  }

  #cache(executor: Executor, reviewId: string, allowed: boolean): void {
    if (this.#options.rights !== undefined) return;
    if (this.#getResults.size >= MAX_GET_RESULTS) this.#getResults.clear();
    this.#getResults.set(resultKey(executor, reviewId), { allowed, atMs: this.#options.clock.now() });
  }

  async #sendReview(executor: Executor, verb: ExecutorVerb, { kind, key }: ReviewedObject): Promise<boolean> {
    const user = serviceAccountUser(executor);
    const { group, version, plural: resource } = kind;
    const resourceAttributes = { group, version, resource, ...key, verb };
    const response = await this.#options.cluster.create(SUBJECT_ACCESS_REVIEW, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      // A review has no metadata, but the type of `create` requires it.
      metadata: {} as KubeObject['metadata'],
      spec: { user: user.name, groups: user.groups, resourceAttributes },
    });
    return (response['status'] as { allowed?: boolean } | undefined)?.allowed === true;
  }
}

/** Identifies a verb on an object. It is JSON, because a name may contain any separator. */
function reviewIdOf(verb: ExecutorVerb, { kind, key }: ReviewedObject): string {
  return JSON.stringify([verb, kind.group, kind.version, kind.plural, key.namespace, key.name]);
}

function resultKey({ namespace, name }: Executor, reviewId: string): string {
  return `${namespace}/${name} ${reviewId}`;
}
