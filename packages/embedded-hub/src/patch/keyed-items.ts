import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { isObject } from '../json/json-value.ts';
import { itemIdentity } from './list-order.ts';

/** A list that is merged item by item, with an index by merge key. */
export class KeyedItems {
  readonly #mergeKey: string;
  /** Undefined where an item was removed. */
  readonly #items: (JsonValue | undefined)[];
  /** Indexes of the items of one key, in order. */
  readonly #indexes = new Map<string, number[]>();

  constructor(mergeKey: string, list: readonly JsonValue[]) {
    this.#mergeKey = mergeKey;
    this.#items = [...list];
    for (const [index, item] of list.entries()) if (isObject(item)) this.#addIndex(item, index);
  }

  /** Merges into the first item with the same key, or appends the merge with an empty item. */
  merge(item: JsonObject, merged: (known: JsonObject) => JsonObject): void {
    const first = this.#indexes.get(itemIdentity(this.#mergeKey, item))?.[0];
    if (first !== undefined) {
      this.#items[first] = merged(this.#items[first] as JsonObject);
      return;
    }
    this.#addIndex(item, this.#items.length);
    this.#items.push(merged({}));
  }

  /** Removes every item with the same key. */
  remove(item: JsonObject): void {
    const identity = itemIdentity(this.#mergeKey, item);
    for (const index of this.#indexes.get(identity) ?? []) this.#items[index] = undefined;
    this.#indexes.delete(identity);
  }

  items(): JsonValue[] {
    return this.#items.filter((item) => item !== undefined);
  }

  #addIndex(item: JsonObject, index: number): void {
    const identity = itemIdentity(this.#mergeKey, item);
    const known = this.#indexes.get(identity);
    if (known === undefined) this.#indexes.set(identity, [index]);
    else known.push(index);
  }
}
