const SLOTS = 1 << 20;

/** Which outcomes were seen, by hash in a map of fixed size: a set of texts would be the heap that grows. */
export class OutcomeMap {
  readonly #seen = new Uint8Array(SLOTS);
  #size = 0;

  /** How many slots are taken: a little fewer than there were outcomes. */
  get size(): number {
    return this.#size;
  }

  /** False when the outcome was seen before. */
  add(outcome: string): boolean {
    const slot = fnv1a(outcome) % SLOTS;
    if (this.#seen[slot] === 1) return false;
    this.#seen[slot] = 1;
    this.#size += 1;
    return true;
  }
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
