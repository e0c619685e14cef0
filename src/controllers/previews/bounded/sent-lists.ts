import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ObjectList } from '@berth/kube/model/kube-api';
import { type NumberedObjects, ReceivedObjects, SentObjects } from './numbered-objects.ts';
import type { HubRead } from './plan-messages.ts';

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
