import type { SourceObject } from './source-object.ts';

/** With more changes, processing the complete list costs little more. */
const MAX_CHANGED = 64;

/**
 * Positions at which a list of objects differs from an earlier one. Undefined if more than the
 * contents of a few objects differ: an object was added, removed or moved. Unchanged objects are
 * identical (by reference) from commit to commit.
 */
export function changedPositions(
  before: readonly SourceObject[],
  after: readonly SourceObject[],
): readonly number[] | undefined {
  if (before.length !== after.length) return undefined;
  const changed: number[] = [];
  for (let at = 0; at < after.length; at++) {
    const [old, now] = [before[at] as SourceObject, after[at] as SourceObject];
    if (old === now) continue;
    if (changed.push(at) > MAX_CHANGED || !sameName(old, now)) return undefined;
  }
  return changed;
}

function sameName({ object: a }: SourceObject, { object: b }: SourceObject): boolean {
  return (
    a.kind === b.kind &&
    a.apiVersion === b.apiVersion &&
    a.metadata.name === b.metadata.name &&
    a.metadata.namespace === b.metadata.namespace
  );
}
