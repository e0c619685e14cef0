import type { Clock } from '@berth/runtime/clock/clock';

/** Calls back once, if it was not restarted within the limit. */
export class SilenceTimer {
  #cancel: () => void = () => undefined;
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onSilence: () => void;

  constructor(clock: Clock, limitMs: number, onSilence: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
    this.restart();
  }

  restart(): void {
    this.#cancel();
    this.#cancel = this.#clock.schedule(this.#limitMs, this.#onSilence);
  }

  cancel(): void {
    this.#cancel();
  }
}
