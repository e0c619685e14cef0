import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi, ListOptions, ObjectKey, ObjectList } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ReadOnlyKubeApi } from '@berth/kube/dry-run-kube-api';
import { BugError } from '@berth/runtime/errors';
import type { MemberHeads } from './read-members.ts';

/**
 * A hub as one plan reads it: each read is made once, and answered the same afterwards. Otherwise the controller could apply the
 * base between the judgement of the head and that of the base, and the plan would show what the base does as done by the head.
 */
export class ReadOnceHub extends ReadOnlyKubeApi implements KubeApi {
  readonly #api: KubeApi;
  readonly #once = onceEach();

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
}

/** The same for the heads of members, which a watch changes meanwhile. */
export function readOnce(headsOf: MemberHeads): MemberHeads {
  const once = onceEach();
  return (kind) => once([kind], () => headsOf(kind));
}

/** @returns a function that asks each question once, and gives the same answer afterwards, also if that is an error */
function onceEach(): <T>(question: readonly unknown[], ask: () => Promise<T>) => Promise<T> {
  const answers = new Map<string, Promise<unknown>>();
  return <T>(question: readonly unknown[], ask: () => Promise<T>): Promise<T> => {
    const key = JSON.stringify(question);
    const answer = (answers.get(key) as Promise<T> | undefined) ?? ask();
    answers.set(key, answer);
    return answer;
  };
}
