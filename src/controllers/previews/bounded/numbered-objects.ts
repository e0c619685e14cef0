import { LastLists } from '@berth/runtime/lists/once-per-list';

/** A list of objects for a process that has most of them already. */
export interface NumberedObjects {
  /** The number of each object of the list, in its order. */
  readonly numbers: Int32Array;
  /** The objects that the other side does not have. Their numbers follow the largest number so far. */
  readonly fresh: readonly object[];
}

/**
 * The sender. It numbers objects, so that each object is sent once. Both sides forget an object that
 * no list of a round contains.
 */
export class SentObjects {
  readonly #keyOf: (object: object) => unknown;
  #known = new Map<unknown, number>();
  #next = 0;

  /** @param keyOf identifies an object. Default: the object in memory. */
  constructor(keyOf: (object: object) => unknown = (object) => object) {
    this.#keyOf = keyOf;
  }

  /** Forgets all objects, so that they are sent again. */
  forget(): void {
    this.#known = new Map();
  }

  /** @param lists the lists of one round */
  pack<K extends string>(
    lists: Readonly<Record<K, readonly object[]>>,
  ): Readonly<Record<K, NumberedObjects>> {
    const now = new Map<unknown, number>();
    const packed = {} as Record<K, NumberedObjects>;
    for (const name of Object.keys(lists) as K[]) {
      const fresh: object[] = [];
      const numbers = Int32Array.from(lists[name], (object) => {
        const key = this.#keyOf(object);
        const known = now.get(key) ?? this.#known.get(key);
        if (known === undefined) fresh.push(object);
        const number = known ?? this.#next++;
        now.set(key, number);
        return number;
      });
      packed[name] = { numbers, fresh };
    }
    this.#known = now;
    return packed;
  }
}

/** The receiver of what `SentObjects` packs. The same number always gives the same object in memory. */
export class ReceivedObjects {
  #known = new Map<number, object>();
  #next = 0;
  readonly #last = new LastLists<object>();

  /**
   * A list with the same objects as before is the same list in memory.
   * @throws RangeError for the number of an object that was not sent
   */
  unpack<K extends string>(
    packed: Readonly<Record<K, NumberedObjects>>,
  ): Readonly<Record<K, readonly object[]>> {
    const now = new Map<number, object>();
    const lists = {} as Record<K, readonly object[]>;
    for (const name of Object.keys(packed) as K[]) {
      const { numbers, fresh } = packed[name];
      for (const object of fresh) now.set(this.#next++, object);
      const list = Array.from(numbers, (number) => {
        const object = now.get(number) ?? this.#known.get(number);
        if (object === undefined) throw new RangeError(`there is no object with the number ${number}`);
        now.set(number, object);
        return object;
      });
      lists[name] = this.#last.reuse(name, list);
    }
    this.#known = now;
    return lists;
  }
}
