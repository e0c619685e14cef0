import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type {
  DeleteOptions,
  KubeApi,
  ListOptions,
  ObjectKey,
  ObjectList,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '@berth/kube/model/kube-api';

/** A KubeApi before another one. Those who extend it say what becomes of writes, and of reads and watches where these do not just go on. */
export abstract class InterceptedKubeApi implements KubeApi {
  readonly server: string;
  protected readonly inner: KubeApi;

  constructor(inner: KubeApi) {
    this.inner = inner;
    this.server = inner.server;
  }

  /** @param right what the request takes: `verb resource[/subresource]` */
  protected read<T>(request: () => Promise<T>, _right: string): Promise<T> {
    return request();
  }

  protected abstract write<T>(request: () => Promise<T>, right: string): Promise<T>;

  watch(kind: KindInfo, options: WatchOptions): AsyncIterable<WatchEvent> {
    return this.inner.watch(kind, options);
  }

  get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined> {
    return this.read(() => this.inner.get(kind, key), rightOf('get', kind));
  }

  list(kind: KindInfo, options?: ListOptions): Promise<ObjectList> {
    return this.read(() => this.inner.list(kind, options), rightOf('list', kind));
  }

  /** Discovery takes no right of its own. */
  resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    return this.read(() => this.inner.resolve(apiVersion, kind), '');
  }

  create(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject> {
    return this.write(() => this.inner.create(kind, object, options), rightOf('create', kind, options));
  }

  update(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject> {
    return this.write(() => this.inner.update(kind, object, options), rightOf('update', kind, options));
  }

  mergePatch(kind: KindInfo, key: ObjectKey, patch: object, options?: WriteOptions): Promise<KubeObject> {
    return this.write(
      () => this.inner.mergePatch(kind, key, patch, options),
      rightOf('patch', kind, options),
    );
  }

  apply(
    kind: KindInfo,
    object: KubeObject,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<KubeObject> {
    return this.write(() => this.inner.apply(kind, object, options), rightOf('patch', kind, options));
  }

  delete(kind: KindInfo, key: ObjectKey, options?: DeleteOptions): Promise<boolean> {
    return this.write(() => this.inner.delete(kind, key, options), rightOf('delete', kind));
  }
}

function rightOf(verb: string, { plural }: KindInfo, options: WriteOptions = {}): string {
  return `${verb} ${plural}${options.subresource === undefined ? '' : `/${options.subresource}`}`;
}
