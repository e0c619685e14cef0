import { isObject } from '@berth/runtime/json/json-value';
import { compareText } from '@berth/runtime/text/compare-text';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import type { ObjectChange } from './plan.ts';

/**
 * Objects that are added, removed or changed between two fleets, by kind and name. Their order in files does not count.
 */
export function diffObjects(
  base: readonly SourceObject[],
  head: readonly SourceObject[],
): readonly ObjectChange[] {
  // Most objects of a large fleet are identical on both sides.
  const [inBase, inHead] = [new Set(objectsOf(base)), new Set(objectsOf(head))];
  const before = byKey(base.filter(({ object }) => !inHead.has(object)));
  const after = byKey(head.filter(({ object }) => !inBase.has(object)));
  const changes: ObjectChange[] = [];
  for (const [key, { object, location }] of after) {
    const old = before.get(key);
    if (old === undefined) changes.push({ change: 'created', ref: refOf(object), fields: [], location });
    else {
      const fields = changedFields(old.object, object);
      if (fields.length > 0) changes.push({ change: 'changed', ref: refOf(object), fields, location });
    }
  }
  for (const [key, { object, location }] of before)
    if (!after.has(key)) changes.push({ change: 'deleted', ref: refOf(object), fields: [], location });
  return changes.sort((a, b) => compareText(sortKey(a), sortKey(b)));
}

function objectsOf(sources: readonly SourceObject[]): readonly KubeObject[] {
  return sources.map(({ object }) => object);
}

function byKey(sources: readonly SourceObject[]): Map<string, SourceObject> {
  return new Map(sources.map((source) => [identityOf(source.object), source]));
}

/** `spec.taints`, `metadata.labels`: deep enough to show what a change is about, short enough to read. */
export function changedFields(before: KubeObject, after: KubeObject): string[] {
  const fields: string[] = [];
  for (const field of keysOf(before, after)) {
    const [left, right] = [before[field], after[field]];
    if (canonicalJson(left ?? null) === canonicalJson(right ?? null)) continue;
    const [old, now] = [left ?? {}, right ?? {}];
    if (!isObject(old) || !isObject(now)) fields.push(field);
    else
      for (const inner of keysOf(old, now))
        if (canonicalJson(old[inner] ?? null) !== canonicalJson(now[inner] ?? null))
          fields.push(`${field}.${inner}`);
  }
  return fields.sort();
}

function keysOf(a: object, b: object): Set<string> {
  return new Set([...Object.keys(a), ...Object.keys(b)]);
}

function sortKey({ ref }: ObjectChange): string {
  return `${ref.kind}\u0000${ref.namespace}\u0000${ref.name}`;
}
