import type { KindInfo } from './model/kinds.ts';
import type {
  DeleteOptions,
  KubeApi,
  ListOptions,
  ObjectKey,
  ObjectList,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './model/kube-api.ts';
import type { KubeObject } from './model/object-meta.ts';

/** Sends every write as a dry run: the server checks and admits it, and stores nothing. */
export class DryRunKubeApi implements KubeApi {
  readonly server: string;
  readonly #api: KubeApi;

  constructor(api: KubeApi) {
    this.#api = api;
    this.server = api.server;
  }

  get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined> {
    return this.#api.get(kind, key);
  }

  list(kind: KindInfo, options?: ListOptions): Promise<ObjectList> {
    return this.#api.list(kind, options);
  }

  watch(kind: KindInfo, options: WatchOptions): AsyncIterable<WatchEvent> {
    return this.#api.watch(kind, options);
  }

  resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    return this.#api.resolve(apiVersion, kind);
  }

  create(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject> {
    return this.#api.create(kind, object, { ...options, dryRun: true });
  }

  update(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject> {
    return this.#api.update(kind, object, { ...options, dryRun: true });
  }

  mergePatch(kind: KindInfo, key: ObjectKey, patch: object, options?: WriteOptions): Promise<KubeObject> {
    return this.#api.mergePatch(kind, key, patch, { ...options, dryRun: true });
  }

  apply(
    kind: KindInfo,
    object: KubeObject,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<KubeObject> {
    return this.#api.apply(kind, object, { ...options, dryRun: true });
  }

  delete(kind: KindInfo, key: ObjectKey, options?: DeleteOptions): Promise<boolean> {
    return this.#api.delete(kind, key, { ...options, dryRun: true });
  }
}

/** The writes of a `KubeApi` that can only be read: each is refused. */
export abstract class ReadOnlyKubeApi {
  /** The error of a write. */
  protected abstract refused(): Error;

  create(): Promise<never> {
    return Promise.reject(this.refused());
  }

  update(): Promise<never> {
    return Promise.reject(this.refused());
  }

  mergePatch(): Promise<never> {
    return Promise.reject(this.refused());
  }

  apply(..._: Parameters<KubeApi['apply']>): Promise<KubeObject> {
    return Promise.reject(this.refused());
  }

  delete(): Promise<never> {
    return Promise.reject(this.refused());
  }
}
