import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi, ListOptions, ObjectKey, ObjectList } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ReadOnlyKubeApi } from '@berth/kube/read-only-kube-api';
import { BugError } from '@berth/runtime/errors';
import type { MemberHeads } from './read-members.ts';

/**
 * A hub as one plan reads it: each read is made once, and answered the same afterwards. Otherwise the controller could apply the
 * base between the judgement of the head and that of the base, and the plan would show what the base does as done by the head.
 */
export class ReadOnceHub extends ReadOnlyKubeApi implements KubeApi {
  readonly #api: KubeApi;
  readonly #answers = new Map<string, Promise<unknown>>();

  constructor(api: KubeApi) {
    super();
    this.#api = api;
  }

  get server(): string {
    return this.#api.server;
  }

  get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined> {
    return this.#once(['get', kind, key.namespace, key.name], () => this.#api.get(kind, key));
  }

  list(kind: KindInfo, options?: ListOptions): Promise<ObjectList> {
    return this.#once(['list', kind, options], () => this.#api.list(kind, options));
  }

  resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    return this.#once(['resolve', apiVersion, kind], () => this.#api.resolve(apiVersion, kind));
  }

  async *watch(): AsyncGenerator<never> {
    throw this.refused();
  }

  protected refused(): BugError {
    return new BugError('a plan reads the hub, and does nothing else', {
      code: 'preview.read-once',
      subject: 'hub',
    });
  }

  #once<T>(read: readonly unknown[], answer: () => Promise<T>): Promise<T> {
    const key = JSON.stringify(read);
    const known = (this.#answers.get(key) as Promise<T> | undefined) ?? answer();
    this.#answers.set(key, known);
    return known;
  }
}

/** The same for the heads of members, which a watch changes meanwhile. */
export function readOnce(headsOf: MemberHeads): MemberHeads {
  const answers = new Map<string, ReturnType<MemberHeads>>();
  return (kind) => {
    const key = JSON.stringify(kind);
    const known = answers.get(key) ?? headsOf(kind);
    answers.set(key, known);
    return known;
  };
}
