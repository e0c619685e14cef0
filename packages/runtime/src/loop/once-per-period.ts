/** More texts than this are forgotten, the oldest first, so that untrusted texts cannot fill the memory. */
const MAX_TEXTS = 1_000;

/** Lets each text through once per period, so that a failure that repeats is not logged every time. */
export class OncePerPeriod {
  readonly #nowMs: () => number;
  readonly #periodMs: number;
  readonly #passedAtMs = new Map<string, number>();

  constructor(nowMs: () => number, periodMs: number) {
    this.#nowMs = nowMs;
    this.#periodMs = periodMs;
  }

  /** Whether the text may pass now. A clock that was set back lets it pass. */
  isDue(text: string): boolean {
    const now = this.#nowMs();
    const ageMs = now - (this.#passedAtMs.get(text) ?? -Infinity);
    if (ageMs >= 0 && ageMs < this.#periodMs) return false;
    this.#passedAtMs.delete(text);
    this.#passedAtMs.set(text, now);
    const [oldest] = this.#passedAtMs.keys();
    if (this.#passedAtMs.size > MAX_TEXTS && oldest !== undefined) this.#passedAtMs.delete(oldest);
    return true;
  }
}
