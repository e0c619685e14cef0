import type { KubeObject } from '../../../model/object-meta.ts';
import type { SeenChange } from './placement-event.ts';
import type { OwnWrite } from './placement-state.ts';

/*
 * The controller reads its own writes while the watch is behind. Each write carried the version before it as a precondition, so that the
 * versions that are older than the last write are known exactly. Anything else that the watch shows is newer and counts.
 */

const ABSENT = '(absent)';

function versionOf(object: KubeObject | undefined): string {
  return object?.metadata.resourceVersion ?? ABSENT;
}

/** The object as it is: what was written, or what the watch shows where that is newer. */
export function readThrough(
  write: OwnWrite | undefined,
  seen: KubeObject | undefined,
): KubeObject | undefined {
  return write?.older.includes(versionOf(seen)) === true ? write.after : seen;
}

/** After one more write, which made `after` of `before`; undefined where the object is absent. */
export function withWrite(earlier: OwnWrite | undefined, change: SeenChange): OwnWrite | undefined {
  const version = versionOf(change.before);
  if (version === versionOf(change.after)) return earlier;
  return {
    after: change.after,
    version: versionOf(change.after),
    older: [...(earlier?.older ?? []), version],
  };
}

/**
 * After the watch showed the object. Once it showed the write, a version from before it is news: the hub was restored from a backup.
 * @returns undefined when something newer than the write is there
 */
export function whenShown(write: OwnWrite | undefined, seen: KubeObject | undefined): OwnWrite | undefined {
  const version = versionOf(seen);
  if (write === undefined || write.older.includes(version)) return write;
  if (version !== write.version) return undefined;
  // The object itself is not needed any more: the watch has it.
  return write.older.length === 0 ? write : { after: undefined, version, older: [] };
}

/** Does the watch still show what was before the write? */
export function isBehind(write: OwnWrite): boolean {
  return write.older.length > 0;
}

/** Is this the outcome of the write, or what was before it, and so no news? */
export function isOwn(write: OwnWrite | undefined, seen: KubeObject | undefined): boolean {
  if (write === undefined) return false;
  const version = versionOf(seen);
  return write.older.includes(version) || write.version === version;
}

/** Names what a change made of an object: the same for a write and for the watch event that shows it. */
export function changeName(name: string, { before, after }: SeenChange): string {
  return after === undefined ? `${name} deleted ${versionOf(before)}` : `${name} ${versionOf(after)}`;
}
