import type { KubeObject } from '../model/object-meta.ts';
import { namespacedName } from '../model/object-ref.ts';
import { isNewerResourceVersion } from '../model/resource-version.ts';
import type { ObjectStore } from './object-store.ts';

/** When a write was answered. */
export interface Answered {
  readonly atMs: number;
  /** The lists that had begun by then. Every later one has the write. */
  readonly listsBegun: number;
}

interface UnshownWrite extends Answered {
  /** Undefined: the object is deleted. */
  readonly written: KubeObject | undefined;
  readonly uid: string | undefined;
  /** The version of the written object, or of the deleted one before its deletion. Answers to deletions have none. */
  readonly version: string;
  /** The object as a list or the watch showed it last. */
  readonly shown: KubeObject | undefined;
}

export interface NumberedList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Lists are numbered in the order in which they begin. */
  readonly number: number;
}

/**
 * Own writes in a store that neither a list nor the watch has shown. Older lists and events do not undo them. As a store
 * it has what was shown: a response to a write may come from another history of the server, so it proves nothing about
 * the history of the watch. A write that the server no longer has does: the server was restored to a state before it.
 * There is at most one write for each object, and each list ends those that were answered before it began.
 */
export class UnshownWrites {
  readonly #store: ObjectStore;
  readonly #writes = new Map<string, UnshownWrite>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** When the oldest write was answered; undefined: all are shown. */
  get sinceMs(): number | undefined {
    const [first] = this.#writes.values();
    return first?.atMs;
  }

  /** Answers of concurrent writes may arrive in another order than the server made them in. */
  put(written: KubeObject, answered: Answered): void {
    const key = namespacedName(written.metadata);
    const { uid, resourceVersion: version = '' } = written.metadata;
    const earlier = this.#writes.get(key);
    if (earlier !== undefined && isOvertaken({ uid, version }, earlier)) return;
    this.#set(key, { ...answered, written, uid, version, shown: this.get(key) });
    this.#store.put(written);
  }

  /** The server has deleted the object. Nothing to do if the watch showed that before the answer arrived. */
  remove({ metadata }: KubeObject, answered: Answered): void {
    const key = namespacedName(metadata);
    const last = this.#store.get(key);
    if (last === undefined || last.metadata.uid !== metadata.uid) return;
    const { uid, resourceVersion: version = '' } = last.metadata;
    this.#set(key, { ...answered, written: undefined, uid, version, shown: this.get(key) });
    this.#store.remove(key);
  }

  /** The watch shows an object. */
  show(object: KubeObject, isDeleted: boolean): void {
    const key = namespacedName(object.metadata);
    const write = this.#writes.get(key);
    if (write !== undefined && isBefore(object, isDeleted, write)) {
      this.#writes.set(key, { ...write, shown: isDeleted ? undefined : object });
      return;
    }
    this.#writes.delete(key);
    if (isDeleted) this.#store.remove(key);
    else this.#store.put(object);
  }

  /** The listed objects, with the writes that the list may not have. The other writes are over. */
  addTo({ items, ...list }: NumberedList): readonly KubeObject[] {
    if (this.#writes.size === 0) return items;
    const byKey = mapByKey(items);
    for (const [key, write] of this.#writes) {
      const shown = byKey.get(key);
      if (mustHave(list, shown, write)) this.#writes.delete(key);
      else {
        this.#writes.set(key, { ...write, shown });
        if (write.written === undefined) byKey.delete(key);
        else byKey.set(key, write.written);
      }
    }
    return [...byKey.values()];
  }

  /**
   * Whether the list proves that the server has lost a write. An object that is missing proves nothing, because others
   * may have deleted it.
   */
  areLostIn({ items, ...list }: NumberedList): boolean {
    if (this.#writes.size === 0) return false;
    const byKey = mapByKey(items);
    return [...this.#writes].some(([key, write]) => {
      const shown = byKey.get(key);
      if (!mustHave(list, shown, write)) return false;
      if (write.written !== undefined && isOlder(list.resourceVersion, write)) return true;
      if (shown === undefined || shown.metadata.uid !== write.uid) return false;
      return write.written === undefined
        ? shown.metadata.deletionTimestamp === undefined
        : isOlder(shown.metadata.resourceVersion, write);
    });
  }

  /**
   * Whether the watch passes a write without showing it, for it shows changes in their order. Only the first write is
   * compared: each one becomes the first when those before it are shown.
   */
  arePassedBy(resourceVersion: string): boolean {
    for (const { written, version } of this.#writes.values())
      if (written !== undefined) return isNewerResourceVersion(resourceVersion, version);
    return false;
  }

  /** The newest of this version and of those of the writes: what the server has reached. */
  newestVersion(shown: string | undefined): string | undefined {
    let newest = shown;
    for (const { version } of this.#writes.values())
      if (newest === undefined || isNewerResourceVersion(version, newest)) newest = version;
    return newest;
  }

  /** The object as it was shown last. */
  get(key: string): KubeObject | undefined {
    const write = this.#writes.get(key);
    return write === undefined ? this.#store.get(key) : write.shown;
  }

  /** The objects as they were shown last. */
  list(): readonly KubeObject[] {
    if (this.#writes.size === 0) return this.#store.list();
    const others = this.#store.list().filter(({ metadata }) => !this.#writes.has(namespacedName(metadata)));
    return [...others, ...[...this.#writes.values()].flatMap(({ shown }) => shown ?? [])];
  }

  /** The newest write is the last one, also if the object had one before. */
  #set(key: string, write: UnshownWrite): void {
    this.#writes.delete(key);
    this.#writes.set(key, write);
  }
}

function mapByKey(items: readonly KubeObject[]): Map<string, KubeObject> {
  return new Map(items.map((object) => [namespacedName(object.metadata), object]));
}

function isOlder(version: string | undefined, write: UnshownWrite): boolean {
  return isNewerResourceVersion(write.version, version ?? '');
}

/** Whether an answer is of a write before this one. A deleted object is not written again. */
function isOvertaken({ uid, version }: Pick<UnshownWrite, 'uid' | 'version'>, by: UnshownWrite): boolean {
  return isOlder(version, by) || (by.written === undefined && uid === by.uid);
}

/** Whether the watch shows a change from before the write. */
function isBefore({ metadata }: KubeObject, isDeleted: boolean, write: UnshownWrite): boolean {
  if (isOlder(metadata.resourceVersion, write)) return true;
  return write.written === undefined && !isDeleted && metadata.uid === write.uid;
}

/** Whether the server knew of the write when it made the list. */
function mustHave(
  { resourceVersion, number }: Omit<NumberedList, 'items'>,
  listed: KubeObject | undefined,
  write: UnshownWrite,
): boolean {
  if (number > write.listsBegun) return true;
  return write.written === undefined ? listed?.metadata.uid !== write.uid : !isOlder(resourceVersion, write);
}
