import { InputError } from '../../src/core/errors.ts';
import type { KindInfo } from '../../src/core/model/kinds.ts';
import type { KubeObject } from '../../src/core/model/object-meta.ts';
import type {
  DeleteOptions,
  KubeApi,
  ListOptions,
  ObjectKey,
  ObjectList,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../../src/core/ports.ts';

/** A KubeApi that notes which rights its user needed: `verb resource[/subresource]`. */
export class AuditingKubeApi implements KubeApi {
  readonly server: string;
  readonly #inner: KubeApi;
  readonly used = new Set<string>();
  readonly refused = new Set<string>();

  constructor(inner: KubeApi) {
    this.#inner = inner;
    this.server = inner.server;
  }

  get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined> {
    return this.#note(`get ${kind.plural}`, () => this.#inner.get(kind, key));
  }

  list(kind: KindInfo, options?: ListOptions): Promise<ObjectList> {
    return this.#note(`list ${kind.plural}`, () => this.#inner.list(kind, options));
  }

  async *watch(kind: KindInfo, options: WatchOptions): AsyncGenerator<WatchEvent> {
    const right = `watch ${kind.plural}`;
    this.used.add(right);
    try {
      yield* this.#inner.watch(kind, options);
    } catch (error) {
      throw this.#seen(right, error);
    }
  }

  create(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject> {
    return this.#note(rightOf('create', kind, options), () => this.#inner.create(kind, object, options));
  }

  update(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject> {
    return this.#note(rightOf('update', kind, options), () => this.#inner.update(kind, object, options));
  }

  mergePatch(kind: KindInfo, key: ObjectKey, patch: object, options?: WriteOptions): Promise<KubeObject> {
    return this.#note(rightOf('patch', kind, options), () =>
      this.#inner.mergePatch(kind, key, patch, options),
    );
  }

  apply(
    kind: KindInfo,
    object: KubeObject,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<KubeObject> {
    return this.#note(rightOf('patch', kind, options), () => this.#inner.apply(kind, object, options));
  }

  delete(kind: KindInfo, key: ObjectKey, options?: DeleteOptions): Promise<boolean> {
    return this.#note(`delete ${kind.plural}`, () => this.#inner.delete(kind, key, options));
  }

  resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    return this.#inner.resolve(apiVersion, kind);
  }

  async #note<T>(right: string, call: () => Promise<T>): Promise<T> {
    this.used.add(right);
    return call().catch((error: unknown) => {
      throw this.#seen(right, error);
    });
  }

  #seen(right: string, error: unknown): unknown {
    if (error instanceof InputError && error.code === 'kube.forbidden') this.refused.add(right);
    return error;
  }
}

function rightOf(verb: string, { plural }: KindInfo, options: WriteOptions | undefined): string {
  return `${verb} ${plural}${options?.subresource === undefined ? '' : `/${options.subresource}`}`;
}
