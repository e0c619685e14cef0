import { changedPositions } from '../model/changed-positions.ts';
import { jsonEqual } from '../model/json-equal.ts';
import type { KubeObject } from '../model/object-meta.ts';
import { objectIdentity, refOf } from '../model/object-ref.ts';
import type { SourceObject } from '../model/source-object.ts';

/**
 * The objects to apply from the settled state, which is completely on the hub, to the next one.
 * Undefined if this needs the state of the hub: an object was removed from Git, or there are kinds
 * or namespaces that the ApplySet does not name yet. Objects of unchanged files are the same values
 * from commit to commit, so this is cheap.
 */
export function planIncrement(
  settled: readonly SourceObject[],
  next: readonly SourceObject[],
): readonly SourceObject[] | undefined {
  const inPlace = changedPositions(settled, next);
  if (inPlace !== undefined)
    return inPlace
      .filter((at) => !jsonEqual(settled[at]?.object, next[at]?.object))
      .map((at) => next[at] as SourceObject);
  const objects = new Set(settled.map(({ object }) => object));
  const places = new Set(settled.map(({ object }) => placeOf(object)));
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
