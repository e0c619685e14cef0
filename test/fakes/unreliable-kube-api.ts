import { InputError, TransientError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi, WatchEvent, WatchOptions } from '@berth/kube/model/kube-api';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';

export interface FaultRates {
  /** A request fails and did nothing. */
  readonly fail: number;
  /** A write happens, but its answer is lost. */
  readonly lostAnswer: number;
  /** A write is reported as failed and happens up to 20 s later. */
  readonly late: number;
  /** A watch breaks, expires, or falls silent, per event. */
  readonly watch: number;
}

/** A KubeApi between a controller and a server, that does what networks and servers do on a bad day. Times come from the clock. */
export class UnreliableKubeApi extends InterceptedKubeApi {
  rates: FaultRates;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #late = new Set<() => void>();

  constructor(inner: KubeApi, clock: Clock, random: () => number, rates: FaultRates) {
    super(inner);
    this.#clock = clock;
    this.#random = random;
    this.rates = rates;
  }

  /** The client died: what it had under way arrives now or never. */
  dropLateWrites(): void {
    for (const cancel of this.#late) cancel();
    this.#late.clear();
  }

  override async *watch(kind: KindInfo, options: WatchOptions): AsyncGenerator<WatchEvent> {
    await this.#pause();
    if (this.#random() < this.rates.fail) throw failure(this.#random());
    for await (const event of this.inner.watch(kind, options)) {
      // Events come with a delay of their own per kind.
      await this.#pause();
      if (options.signal.aborted) return;
      yield event;
      if (this.#random() >= this.rates.watch) continue;
      const how = this.#random();
      if (how < 0.4) throw failure(this.#random());
      if (how < 0.6) throw new InputError('too old', { code: 'kube.expired', subject: kind.plural });
      if (how < 0.8) return;
      await new Promise<void>((resolve) =>
        options.signal.addEventListener('abort', () => resolve(), { once: true }),
      );
      return;
    }
  }

  protected override async read<T>(request: () => Promise<T>): Promise<T> {
    await this.#pause();
    if (this.#random() < this.rates.fail) throw failure(this.#random());
    return request();
  }

  protected override async write<T>(request: () => Promise<T>): Promise<T> {
    await this.#pause();
    const fate = this.#random();
    const { fail, lostAnswer, late } = this.rates;
    if (fate < fail) throw failure(this.#random());
    if (fate < fail + late) {
      const cancel = this.#clock.schedule(this.#random() * 20_000, () => {
        this.#late.delete(cancel);
        request().catch(() => undefined);
      });
      this.#late.add(cancel);
      throw failure(this.#random());
    }
    const answer = await request();
    await this.#pause();
    if (fate < fail + late + lostAnswer) throw failure(this.#random());
    return answer;
  }

  #pause(): Promise<void> {
    const delayMs = this.#random() * 80;
    return new Promise((resolve) => this.#clock.schedule(delayMs, resolve));
  }
}

function failure(pick: number): TransientError {
  const details = {
    code: pick < 0.3 ? 'kube.network' : pick < 0.6 ? 'kube.internalerror' : 'kube.toomanyrequests',
    subject: 'test',
  };
  return new TransientError('injected', { ...details, retryAfterMs: pick > 0.8 ? 3_000 : undefined });
}
