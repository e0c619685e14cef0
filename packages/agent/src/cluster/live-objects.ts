import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import { Reflector } from '@berth/kube/cache/reflector';

export interface LiveObjectsOptions {
  readonly cluster: KubeApi;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly maxWatches: number;
  /** Called when an object that this work watches changed, appeared or was deleted. */
  readonly onChange: (work: string) => void;
}

/** Identifies one object of a work. */
export interface WatchedObject {
  readonly kind: KindInfo;
  readonly key: ObjectKey;
}

interface Watch {
  readonly reflector: Reflector;
  readonly stop: AbortController;
  /** Works by object. */
  readonly wanted: Map<string, Set<string>>;
}

/**
 * The objects of all works as they exist on the managed cluster: watched (one watch per kind and
 * namespace, shared by the works) up to a limit. They are read one by one beyond the limit, and
 * until the first list has been read. A result is the server's state of an object, or an error.
 */
export class LiveObjects {
  readonly #options: LiveObjectsOptions;
  readonly #watches = new Map<string, Watch>();
  #writingWork: string | undefined;
  readonly #byWork = new Map<string, ReadonlyMap<string, WatchedObject>>();

  constructor(options: LiveObjectsOptions) {
    this.#options = options;
  }

  /** Undefined if the server does not have the object. */
  async get({ kind, key }: WatchedObject): Promise<KubeObject | undefined> {
    const watch = this.#watches.get(watchId(kind, key.namespace));
    return watch?.reflector.synced === true
      ? watch.reflector.store.get(namespacedName(key))
      : this.#options.cluster.get(kind, key);
  }

  /** Reads from the server, after a conflict, because the watch may lag behind. */
  async getFresh({ kind, key }: WatchedObject): Promise<KubeObject | undefined> {
    const object = await this.#options.cluster.get(kind, key);
    if (object !== undefined) this.written(kind, object, undefined);
    return object;
  }

  /**
   * Records the response to the agent's own write. It is used immediately, and the following watch
   * event is ignored.
   * @param by the work that wrote, which is not notified of its own change
   */
  written(kind: KindInfo, object: KubeObject, by: string | undefined): void {
    const watch = this.#watches.get(watchId(kind, object.metadata.namespace ?? ''));
    if (watch?.reflector.synced !== true) return;
    this.#writingWork = by;
    watch.reflector.putWritten(object);
    this.#writingWork = undefined;
  }

  isWatched({ kind, key }: WatchedObject): boolean {
    return this.#watches.get(watchId(kind, key.namespace))?.reflector.synced === true;
  }

  /** Sets the objects that this work watches. */
  setInterest(work: string, objects: readonly WatchedObject[]): void {
    const wanted = new Map(objects.map((object) => [objectId(object), object]));
    const before = this.#byWork.get(work);
    for (const [id, object] of before ?? []) if (!wanted.has(id)) this.#drop(work, object);
    for (const object of wanted.values()) this.#add(work, object);
    if (wanted.size === 0) this.#byWork.delete(work);
    else this.#byWork.set(work, wanted);
  }

  close(): void {
    for (const watch of this.#watches.values()) watch.stop.abort();
    this.#watches.clear();
    this.#byWork.clear();
  }

  #add(work: string, { kind, key }: WatchedObject): void {
    const id = watchId(kind, key.namespace);
    let watch = this.#watches.get(id);
    if (watch === undefined) {
      if (this.#watches.size >= this.#options.maxWatches) return;
      watch = this.#open(kind, key.namespace);
      this.#watches.set(id, watch);
    }
    const name = namespacedName(key);
    const works = watch.wanted.get(name);
    if (works === undefined) watch.wanted.set(name, new Set([work]));
    else works.add(work);
  }

  #open(kind: KindInfo, namespace: string): Watch {
    const { cluster, clock, random, log, onChange } = this.#options;
    const stop = new AbortController();
    const reflector = new Reflector({
      api: cluster,
      kind,
      clock,
      random,
      log,
      ...(namespace === '' ? {} : { namespace }),
    });
    const wanted = new Map<string, Set<string>>();
    reflector.store.onChange(({ key }) => {
      for (const work of wanted.get(key) ?? []) if (work !== this.#writingWork) onChange(work);
    });
    void reflector.run(stop.signal);
    return { reflector, stop, wanted };
  }

  #drop(work: string, { kind, key }: WatchedObject): void {
    const id = watchId(kind, key.namespace);
    const watch = this.#watches.get(id);
    const name = namespacedName(key);
    const works = watch?.wanted.get(name);
    if (watch === undefined || works === undefined) return;
    works.delete(work);
    if (works.size === 0) watch.wanted.delete(name);
    if (watch.wanted.size > 0) return;
    watch.stop.abort();
    this.#watches.delete(id);
  }
}

function watchId(kind: KindInfo, namespace: string): string {
  return `${kind.group}/${kind.version}/${kind.plural} ${namespace}`;
}

function objectId({ kind, key }: WatchedObject): string {
  return `${watchId(kind, key.namespace)} ${key.name}`;
}
