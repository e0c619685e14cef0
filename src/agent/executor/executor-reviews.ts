import type { KindInfo } from '../../core/model/kinds.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import type { Clock, KubeApi, ObjectKey } from '../../core/ports.ts';
import type { ExecutorRights } from './executor-rights.ts';
import { type Executor, userOf } from '../../core/work/applied/executor-subject.ts';

const SUBJECT_ACCESS_REVIEW: KindInfo = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

export type ExecutorVerb = 'create' | 'update' | 'patch' | 'get' | 'delete';

/** One object of the managed cluster, as authorization knows it. */
export interface ReviewedObject {
  readonly kind: Pick<KindInfo, 'group' | 'version' | 'plural'>;
  readonly key: ObjectKey;
}

/** How long an answer about `get` is used again, in milliseconds: a work is looked at with each change of its objects. */
export const READ_ANSWER_MS = 60_000;
const MAX_READ_ANSWERS = 10_000;

interface ReviewsOptions {
  readonly cluster: KubeApi;
  readonly clock: Clock;
  /** Answers that hold until RBAC objects change; absent: the server is asked. */
  readonly rights: ExecutorRights | undefined;
}

/** Asks the managed cluster's API server, by SubjectAccessReview, what the executors of works may do. */
export class ExecutorReviews {
  readonly #options: ReviewsOptions;
  readonly #reads = new Map<string, { readonly allowed: boolean; readonly atMs: number }>();

  constructor(options: ReviewsOptions) {
    this.#options = options;
  }

  /** For a write: checked each time, unless a cache follows RBAC. */
  async may(executor: Executor, verb: ExecutorVerb, object: ReviewedObject): Promise<boolean> {
    const { rights } = this.#options;
    const question = questionOf(verb, object);
    const ask = (): Promise<boolean> => this.#ask(executor, verb, object);
    const allowed = rights === undefined ? await ask() : await rights.allowed(executor, question, ask);
    if (verb === 'get') this.#note(executor, question, allowed);
    return allowed;
  }

  /** For reading an object: an answer counts for a minute, or as long as the cache that follows RBAC holds it. */
  async mayGet(executor: Executor, object: ReviewedObject): Promise<boolean> {
    if (this.#options.rights === undefined) {
      const known = this.#reads.get(readKey(executor, questionOf('get', object)));
      if (known !== undefined && this.#options.clock.now() - known.atMs < READ_ANSWER_MS)
        return known.allowed;
    }
    return this.may(executor, 'get', object);
  }

  #note(executor: Executor, question: string, allowed: boolean): void {
    if (this.#options.rights !== undefined) return;
    if (this.#reads.size >= MAX_READ_ANSWERS) this.#reads.clear();
    this.#reads.set(readKey(executor, question), { allowed, atMs: this.#options.clock.now() });
  }

  async #ask(executor: Executor, verb: ExecutorVerb, { kind, key }: ReviewedObject): Promise<boolean> {
    const user = userOf(executor);
    const { group, version, plural: resource } = kind;
    const resourceAttributes = { group, version, resource, ...key, verb };
    const review = await this.#options.cluster.create(SUBJECT_ACCESS_REVIEW, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      // A review has no name; the port's type wants one.
      metadata: {} as KubeObject['metadata'],
      spec: { user: user.name, groups: user.groups, resourceAttributes },
    });
    return (review['status'] as { allowed?: boolean } | undefined)?.allowed === true;
  }
}

/** JSON, so that no name can be read as two fields. */
function questionOf(verb: ExecutorVerb, { kind, key }: ReviewedObject): string {
  return JSON.stringify([verb, kind.group, kind.version, kind.plural, key.namespace, key.name]);
}

function readKey({ namespace, name }: Executor, question: string): string {
  return `${namespace}/${name} ${question}`;
}
