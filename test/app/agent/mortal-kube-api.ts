import { TransientError } from '../../../src/core/errors.ts';
import type { KindInfo } from '../../../src/core/model/kinds.ts';
import type { KubeObject } from '../../../src/core/model/object-meta.ts';
import type {
  DeleteOptions,
  KubeApi,
  ListOptions,
  ObjectKey,
  ObjectList,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../../../src/core/ports.ts';

type Never = Promise<never>;

/** How an agent's process may end. */
export interface Life {
  dead: boolean;
  /** Writes left to live; the last one is done or not, as `lastIsDone` says. */
  writesLeft: number;
  readonly lastIsDone: boolean;
}

/**
 * A KubeApi as one process sees it. When its life ends, in the middle of anything, no call ever returns again, as after
 * `kill -9`. While disconnected, every call fails and watches break.
 */
export class MortalKubeApi implements KubeApi {
  readonly server: string;
  readonly #inner: KubeApi;
  readonly #life: Life;
  #connected = true;
  #failures = 0;
  #cut = new AbortController();

  constructor(inner: KubeApi, life: Life) {
    this.#inner = inner;
    this.#life = life;
    this.server = inner.server;
  }

  disconnect(): void {
    this.#connected = false;
    this.#cut.abort();
    this.#cut = new AbortController();
  }

  /** The next calls fail, one by one: overload, a proxy, a lost answer. */
  failNext(calls: number): void {
    this.#failures = calls;
  }

  connect(): void {
    this.#connected = true;
  }

  get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined> {
    return this.#read(() => this.#inner.get(kind, key));
  }

  list(kind: KindInfo, options?: ListOptions): Promise<ObjectList> {
    return this.#read(() => this.#inner.list(kind, options));
  }

  async *watch(kind: KindInfo, options: WatchOptions): AsyncGenerator<WatchEvent> {
    await this.#read(async () => undefined);
    const signal = AbortSignal.any([options.signal, this.#cut.signal]);
    for await (const event of this.#inner.watch(kind, { ...options, signal })) {
      if (this.#life.dead) await forever();
      yield event;
    }
    if (!options.signal.aborted) throw disconnected();
  }

  create(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject> {
    return this.#write(() => this.#inner.create(kind, object, options));
  }

  update(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject> {
    return this.#write(() => this.#inner.update(kind, object, options));
  }

  mergePatch(kind: KindInfo, key: ObjectKey, patch: object, options?: WriteOptions): Promise<KubeObject> {
    return this.#write(() => this.#inner.mergePatch(kind, key, patch, options));
  }

  apply(
    kind: KindInfo,
    object: KubeObject,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<KubeObject> {
    return this.#write(() => this.#inner.apply(kind, object, options));
  }

  delete(kind: KindInfo, key: ObjectKey, options?: DeleteOptions): Promise<boolean> {
    return this.#write(() => this.#inner.delete(kind, key, options));
  }

  resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    return this.#read(() => this.#inner.resolve(apiVersion, kind));
  }

  #failIfAsked(): void {
    if (!this.#connected) throw disconnected();
    if (this.#failures === 0) return;
    this.#failures -= 1;
    throw disconnected();
  }

  async #read<T>(call: () => Promise<T>): Promise<T> {
    if (this.#life.dead) return forever();
    this.#failIfAsked();
    const answer = await call();
    return this.#life.dead ? forever() : answer;
  }

  async #write<T>(call: () => Promise<T>): Promise<T> {
    if (this.#life.dead) return forever();
    // The write may have been done although its answer is lost.
    if (this.#failures > 0 && this.#failures % 2 === 0) await call().catch(() => undefined);
    this.#failIfAsked();
    this.#life.writesLeft -= 1;
    if (this.#life.writesLeft > 0) return call();
    this.#life.dead = true;
    if (this.#life.lastIsDone) await call().catch(() => undefined);
    return forever();
  }
}

function forever(): Never {
  return new Promise(() => undefined);
}

function disconnected(): TransientError {
  return new TransientError('the network is down', { code: 'kube.network', subject: 'test' });
}
