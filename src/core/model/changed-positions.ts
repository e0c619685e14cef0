import type { SourceObject } from './source-object.ts';

/** Beyond these it costs little beside the rest to look at everything. */
const MAX_CHANGED = 64;

/**
 * Positions at which a list of objects differs from an earlier one. Undefined when it differs in more than the contents of a few
 * objects: something came, went, or is elsewhere. What did not change is the very same value from commit to commit.
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
