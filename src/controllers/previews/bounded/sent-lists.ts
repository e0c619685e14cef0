import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { ObjectList } from '../../../core/ports.ts';
import { type NumberedObjects, ReceivedObjects, SentObjects } from './numbered-objects.ts';
import type { HubRead } from './plan-messages.ts';

type ListRead = Extract<HubRead, { readonly method: 'list' }>;
type HeadsRead = Extract<HubRead, { readonly method: 'heads' }>;

/** A list from the hub for a process that got most of its objects by an earlier list of the same read. */
export type SentList = Omit<ObjectList, 'items'> & { readonly items: NumberedObjects };

/** Sends each version of an object once, as long as each list has it. */
export class SentLists {
  readonly #sent = new Map<string, { readonly objects: SentObjects; readonly at: number }>();
  readonly #heads = new Map<string, SentObjects>();

  /** @param heads the same object every time, as long as it does not change */
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
    // A hub that was restored gives versions out a second time.
    if (!(at >= before)) objects.forget();
    this.#sent.set(key, { objects, at });
    return { ...rest, ...objects.pack({ items }) };
  }
}

/** The other side of `SentLists`: an unchanged object is the very same object every time. */
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

/** Its uid and version. An object without them, as from a hub that keeps none, is another one each time. */
function versionOf(object: object): unknown {
  const { uid, resourceVersion } = (object as KubeObject).metadata;
  return uid === undefined || resourceVersion === undefined ? object : `${uid} ${resourceVersion}`;
}
