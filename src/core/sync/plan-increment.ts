import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { objectIdentity, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';

/**
 * The objects to apply from the last state, which is completely on the hub, to the next one.
 * Undefined if this needs the state of the hub: an object was removed from Git, or there are kinds
 * or namespaces that the ApplySet does not name yet. Objects of unchanged files are the same values
 * from commit to commit, so this is cheap.
 */
export function planIncrement(
  onHub: readonly SourceObject[],
  next: readonly SourceObject[],
): readonly SourceObject[] | undefined {
  const inPlace = changedPositions(onHub, next);
  if (inPlace !== undefined)
    return inPlace
      .filter((at) => !jsonEqual(onHub[at]?.object, next[at]?.object))
      .map((at) => next[at] as SourceObject);
  const objects = new Set(onHub.map(({ object }) => object));
  const places = new Set(onHub.map(({ object }) => placeOf(object)));
  const kept = new Set<KubeObject>();
  const fresh: SourceObject[] = [];
  for (const source of next) {
    if (objects.has(source.object)) kept.add(source.object);
    else fresh.push(source);
  }
  const replaced = new Map<string, KubeObject>();
  for (const object of objects) if (!kept.has(object)) replaced.set(objectIdentity(refOf(object)), object);
  const changed: SourceObject[] = [];
  for (const source of fresh) {
    if (!places.has(placeOf(source.object))) return undefined;
    const identity = objectIdentity(refOf(source.object));
    // Read or assembled again with the same content.
    if (!jsonEqual(replaced.get(identity), source.object)) changed.push(source);
    replaced.delete(identity);
  }
  return replaced.size > 0 ? undefined : changed;
}

function placeOf({ apiVersion, kind, metadata }: KubeObject): string {
  return `${apiVersion} ${kind} ${metadata.namespace ?? ''}`;
}

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
