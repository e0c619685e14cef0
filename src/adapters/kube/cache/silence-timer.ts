import type { Clock } from '../../../core/ports.ts';

/** Calls once when it was not restarted for as long as the limit. */
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
