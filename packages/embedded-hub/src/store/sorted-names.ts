import { lowerBound } from '@berth/runtime/lists/lower-bound';

/** Names in ascending order. Built lazily: bulk loading costs one sort, a single change a binary search. */
export class SortedNames {
  #names: string[] = [];
  #sorted = true;

  add(name: string): void {
    const last = this.#names.at(-1);
    if (!this.#sorted || last === undefined || last < name) {
      this.#names.push(name);
      return;
    }
    // Many insertions between two reads: appending and sorting once is cheaper than moving the tail each time.
    this.#names.push(name);
    this.#sorted = false;
  }

  delete(name: string): void {
    const names = this.values();
    const index = lowerBound(names.length, (at) => (names[at] as string) < name);
    if (names[index] === name) this.#names.splice(index, 1);
  }

  values(): readonly string[] {
    if (!this.#sorted) {
      this.#names.sort();
      this.#sorted = true;
    }
    return this.#names;
  }
}
