import type { KubeObject } from '@berth/kube/model/object-meta';
import type { WatchedChange } from './placement-event.ts';
import type { OwnWrite } from './placement-state.ts';

/*
 * Read-your-writes while the watch is behind. Each write has the previous version as its
 * precondition, so the versions before the last write are known exactly. Every other version that
 * the watch shows is newer.
 */

const ABSENT = '(absent)';

function versionOf(object: KubeObject | undefined): string {
  return object?.metadata.resourceVersion ?? ABSENT;
}

/** The newest known version: the last write, or what the watch shows if that is newer. */
export function latestVersion(
  write: OwnWrite | undefined,
  seen: KubeObject | undefined,
): KubeObject | undefined {
  return write?.older.includes(versionOf(seen)) === true ? write.after : seen;
}

/**
 * The last write after a write that turned `before` into `after`. Either is undefined if the object
 * does not exist.
 */
export function recordWrite(earlier: OwnWrite | undefined, change: WatchedChange): OwnWrite | undefined {
  const version = versionOf(change.before);
  if (version === versionOf(change.after)) return earlier;
  return {
    after: change.after,
    version: versionOf(change.after),
    older: [...(earlier?.older ?? []), version],
  };
}

/**
 * The last write after the watch showed the object. If the watch already showed the write, an older
 * version means that the hub was restored from a backup.
 * @returns undefined when the watch shows a version newer than the write
 */
export function afterShown(write: OwnWrite | undefined, seen: KubeObject | undefined): OwnWrite | undefined {
  const version = versionOf(seen);
  if (write === undefined || write.older.includes(version)) return write;
  if (version !== write.version) return undefined;
  // The watch has the object now, so the copy is not needed.
  return write.older.length === 0 ? write : { after: undefined, version, older: [] };
}

/** Whether the watch still shows a version before the write. */
export function isWatchBehind(write: OwnWrite): boolean {
  return write.older.length > 0;
}

/** Whether the version is that of the write or an older one, so that it is nothing new. */
export function isOwnWrite(write: OwnWrite | undefined, seen: KubeObject | undefined): boolean {
  if (write === undefined) return false;
  const version = versionOf(seen);
  return write.older.includes(version) || write.version === version;
}

/** A key for a change of an object. A write and the watch event that shows it have the same key. */
export function changeKey(name: string, { before, after }: WatchedChange): string {
  return after === undefined ? `${name} deleted ${versionOf(before)}` : `${name} ${versionOf(after)}`;
}
