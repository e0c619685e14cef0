import type { ObjectList } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { LastLists } from '@berth/runtime/lists/once-per-list';
import type { HubRead } from './plan-messages.ts';

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

type ListRead = Extract<HubRead, { readonly method: 'list' }>;
type HeadsRead = Extract<HubRead, { readonly method: 'heads' }>;

/** A list from the hub for a process that has most of its objects from an earlier list of the same read. */
export type SentList = Omit<ObjectList, 'items'> & { readonly items: NumberedObjects };

/** The sender. It sends each version of an object once, as long as all lists of the same read have it. */
export class SentLists {
  readonly #sent = new Map<string, { readonly objects: SentObjects; readonly at: number }>();
  readonly #heads = new Map<string, SentObjects>();

  /** @param heads undefined if they are unknown. An unchanged head must be the same object in memory. */
  packHeads(read: HeadsRead, heads: readonly object[] | undefined): NumberedObjects | undefined {
    if (heads === undefined) return undefined;
    const key = readKey(read);
    const objects = this.#heads.get(key) ?? new SentObjects();
    this.#heads.set(key, objects);
    return objects.pack({ heads }).heads;
  }

  pack(read: ListRead, { items, ...rest }: ObjectList): SentList {
    const key = readKey(read);
    const { objects, at: before } = this.#sent.get(key) ?? { objects: new SentObjects(versionOf), at: 0 };
    const at = Number(rest.resourceVersion);
    // A restored hub may use a version for a second time.
    if (!(at >= before)) objects.forget();
    this.#sent.set(key, { objects, at });
    return { ...rest, ...objects.pack({ items }) };
  }
}

/** The receiver of what `SentLists` packs. An unchanged object is the same object in memory. */
export class ReceivedLists {
  readonly #received = new Map<string, ReceivedObjects>();

  unpack(read: ListRead, { items, ...rest }: SentList): ObjectList {
    return { ...rest, items: this.#unpack(read, items) };
  }

  unpackHeads(read: HeadsRead, heads: NumberedObjects | undefined): readonly KubeObject[] | undefined {
    return heads && this.#unpack(read, heads);
  }

  #unpack(read: ListRead | HeadsRead, items: NumberedObjects): readonly KubeObject[] {
    const key = readKey(read);
    const received = this.#received.get(key) ?? new ReceivedObjects();
    this.#received.set(key, received);
    return received.unpack({ items }).items as readonly KubeObject[];
  }
}

function readKey(read: ListRead | HeadsRead): string {
  return JSON.stringify([read.method, read.kind, 'options' in read ? read.options : undefined]);
}

/** Identifies the version of an object. An object without uid or version counts as new each time. */
function versionOf(object: object): unknown {
  const { uid, resourceVersion } = (object as KubeObject).metadata;
  return uid === undefined || resourceVersion === undefined ? object : `${uid} ${resourceVersion}`;
}

type ListName = 'placements' | 'clusters' | 'clusterSets' | 'bindings' | 'decisions' | 'scores';

/** A snapshot for a process that has most of its objects already. */
export type SentSnapshot = Omit<Snapshot, ListName> & Readonly<Record<ListName, NumberedObjects>>;

/** @param sent the objects that the other side has */
export function packSnapshot(snapshot: Snapshot, sent: SentObjects): SentSnapshot {
  return { ...snapshot, ...sent.pack(listsOf(snapshot)) };
}

/** @param received the objects that were received before */
export function unpackSnapshot(snapshot: SentSnapshot, received: ReceivedObjects): Snapshot {
  const lists = received.unpack(listsOf(snapshot)) as unknown as Pick<Snapshot, ListName>;
  return { ...snapshot, ...lists };
}

function listsOf<T extends Readonly<Record<ListName, unknown>>>(snapshot: T): Pick<T, ListName> {
  const { placements, clusters, clusterSets, bindings, decisions, scores } = snapshot;
  return { placements, clusters, clusterSets, bindings, decisions, scores };
}
