import type { MonotonicClock } from '@berth/runtime/clock/clock';
import type { FakeClock } from '@berth/test-kit/fake-clock';

/**
 * The clocks of one process in a snapshot whose true time is a FakeClock: they run too fast or too slow, and the wall clock is set now and
 * then. While the process is paused (SIGSTOP) nothing of it runs, but its clocks go on; while its machine sleeps the monotonic one stands.
 */
export class ProcessClock implements MonotonicClock {
  readonly #snapshot: FakeClock;
  readonly #rate: number;
  #wallOffsetMs: number;
  #sleptMs = 0;
  #sleepsSinceMs: number | undefined;
  #isPaused = false;
  #due: (() => void)[] = [];

  constructor(snapshot: FakeClock, rate: number, wallOffsetMs: number) {
    this.#snapshot = snapshot;
    this.#rate = rate;
    this.#wallOffsetMs = wallOffsetMs;
  }

  now(): number {
    return this.#snapshot.monotonicMs() * this.#rate + this.#wallOffsetMs;
  }

  monotonicMs(): number {
    return (
      (Math.min(this.#snapshot.monotonicMs(), this.#sleepsSinceMs ?? Infinity) - this.#sleptMs) * this.#rate
    );
  }

  schedule(delayMs: number, callback: () => void): () => void {
    let isCancelled = false;
    const fire = (): void => {
      if (!isCancelled) this.whenAwake(callback);
    };
    const cancel = this.#snapshot.schedule(delayMs / this.#rate, fire);
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Runs it now, or when the process goes on. */
  whenAwake(callback: () => void): void {
    if (this.#isPaused) this.#due.push(callback);
    else callback();
  }

  setWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  pause(machineSleeps: boolean): void {
    this.#isPaused = true;
    if (machineSleeps) this.#sleepsSinceMs ??= this.#snapshot.monotonicMs();
  }

  /** @param shuffle in which order what came meanwhile is worked on */
  goOn(shuffle: (due: readonly (() => void)[]) => readonly (() => void)[]): void {
    this.#isPaused = false;
    if (this.#sleepsSinceMs !== undefined)
      this.#sleptMs += this.#snapshot.monotonicMs() - this.#sleepsSinceMs;
    this.#sleepsSinceMs = undefined;
    const due = shuffle(this.#due);
    this.#due = [];
    for (const callback of due) callback();
  }
}
