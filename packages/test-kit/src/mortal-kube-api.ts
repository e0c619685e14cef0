import { TransientError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi, WatchEvent, WatchOptions } from '@berth/kube/model/kube-api';
import { InterceptedKubeApi } from './intercepted-kube-api.ts';

type Never = Promise<never>;

/** How a process may end. */
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
export class MortalKubeApi extends InterceptedKubeApi {
  readonly #life: Life;
  #connected = true;
  #failures = 0;
  #cut = new AbortController();

  constructor(inner: KubeApi, life: Life) {
    super(inner);
    this.#life = life;
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

  override async *watch(kind: KindInfo, options: WatchOptions): AsyncGenerator<WatchEvent> {
    await this.read(async () => undefined);
    const signal = AbortSignal.any([options.signal, this.#cut.signal]);
    for await (const event of this.inner.watch(kind, { ...options, signal })) {
      if (this.#life.dead) await forever();
      yield event;
    }
    if (!options.signal.aborted) throw disconnected();
  }

  #failIfAsked(): void {
    if (!this.#connected) throw disconnected();
    if (this.#failures === 0) return;
    this.#failures -= 1;
    throw disconnected();
  }

  protected override async read<T>(call: () => Promise<T>): Promise<T> {
    if (this.#life.dead) return forever();
    this.#failIfAsked();
    const answer = await call();
    return this.#life.dead ? forever() : answer;
  }

  protected override async write<T>(call: () => Promise<T>): Promise<T> {
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
