import type { Reflector } from '@berth/kube/cache/reflector';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { hasReachedVersion } from '@berth/kube/model/resource-version';

interface OwnWrite {
  /** Versions older than the write. While the store shows one of them, it is behind. */
  readonly olderVersions: Set<string | undefined>;
  readonly object: KubeObject | undefined;
}

/**
 * A read-your-writes view of a watched store: after a write its response is used until the watch
 * has caught up.
 */
export class ReadYourWritesCache {
  readonly #reflector: Pick<Reflector, 'store' | 'position'>;
  readonly #writes = new Map<string, OwnWrite>();
  /** The versions that our last writes created. */
  readonly #ownVersions = new Map<string, string>();

  constructor(reflector: Pick<Reflector, 'store' | 'position'>) {
    this.#reflector = reflector;
    reflector.store.onChange(({ key, after }) => {
      if (after === undefined) this.#ownVersions.delete(key);
    });
  }

  get(key: string): KubeObject | undefined {
    const seen = this.#reflector.store.get(key);
    const write = this.#writes.get(key);
    if (write === undefined) return seen;
    const isBehind = write.olderVersions.has(seen?.metadata.resourceVersion);
    if (isBehind && !this.#isShown(write.object)) return write.object;
    this.#writes.delete(key);
    return seen;
  }

  /** @param object from the response; undefined: deleted */
  recordWrite(key: string, object: KubeObject | undefined): void {
    const seen = this.#reflector.store.get(key)?.metadata.resourceVersion;
    const version = object?.metadata.resourceVersion;
    const before = this.#writes.get(key);
    if (version === undefined) this.#ownVersions.delete(key);
    else this.#ownVersions.set(key, version);
    // Without this, a late response would hide that the object was changed or deleted after the write.
    if ((version !== undefined && version === seen) || this.#isShown(object)) {
      this.#writes.delete(key);
      return;
    }
    const olderVersions = before?.olderVersions ?? new Set<string | undefined>();
    olderVersions.add(seen);
    if (before?.object !== undefined) olderVersions.add(before.object.metadata.resourceVersion);
    this.#writes.set(key, { olderVersions, object });
  }

  /** Whether the list or the watch has shown this version of an object, and all that followed until now. */
  #isShown(object: KubeObject | undefined): boolean {
    const { resourceVersion } = this.#reflector.position;
    const version = object?.metadata.resourceVersion;
    return (
      version !== undefined && resourceVersion !== undefined && hasReachedVersion(resourceVersion, version)
    );
  }

  /** Whether our own last write created this version. If so, its event is not new. */
  isOwn(key: string, object: KubeObject | undefined): boolean {
    return object !== undefined && this.#ownVersions.get(key) === object.metadata.resourceVersion;
  }

  /** Drops the own write: after a conflict only the watch is used. */
  forget(key: string): void {
    this.#writes.delete(key);
    this.#ownVersions.delete(key);
  }
}
