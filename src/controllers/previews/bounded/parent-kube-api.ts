import { BugError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, ListOptions, ObjectKey, ObjectList } from '@berth/kube/model/kube-api';
import type { HubRead } from './plan-messages.ts';
import { ReadOnlyKubeApi } from '@berth/kube/read-only-kube-api';

/** The hub in a process without access to it: the parent process reads for it. */
export class ParentKubeApi extends ReadOnlyKubeApi implements KubeApi {
  readonly server: string;
  readonly #read: (request: HubRead) => Promise<unknown>;

  constructor(server: string, read: (request: HubRead) => Promise<unknown>) {
    super();
    this.server = server;
    this.#read = read;
  }

  async get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined> {
    return (await this.#read({ method: 'get', kind, key })) as KubeObject | undefined;
  }

  async list(kind: KindInfo, options?: ListOptions): Promise<ObjectList> {
    return (await this.#read({ method: 'list', kind, options })) as ObjectList;
  }

  async resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    return (await this.#read({ method: 'resolve', apiVersion, kind })) as KindInfo | undefined;
  }

  watch(): never {
    throw this.refused();
  }

  protected refused(): BugError {
    return new BugError('a plan only reads', { code: 'plan.read-only', subject: 'Hub' });
  }
}
