import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { isObject } from '@berth/runtime/json/json-value';
import { compareText } from '@berth/runtime/text/compare-text';
import { objectsOfSnapshot } from '../sources/snapshot-of-objects.ts';
import { fieldChanges } from './effects/field-changes.ts';
import type { FieldChange } from './effects/plan-effects.ts';
import type { ObjectChange } from './plan.ts';

const WORKS: readonly string[] = [MANIFEST_WORK.kind, MANIFEST_WORK_REPLICA_SET.kind];
/** The values of further changed objects are not compared: nobody reads them. */
const MAX_VALUED = 200;

/**
 * Objects that are added, removed or changed between two fleets, by kind and name. Their order in files does not count.
 * @param held the inputs of decisions as the hub holds them on both sides: it may keep another value than Git says. Absent:
 *   as Git says
 */
export function diffObjects(
  base: readonly SourceObject[],
  head: readonly SourceObject[],
  held?: { readonly before: Snapshot; readonly after: Snapshot },
): readonly ObjectChange[] {
  // Most objects of a large fleet are identical on both sides.
  const [inBase, inHead] = [new Set(objectsOf(base)), new Set(objectsOf(head))];
  const before = byKey(base.filter(({ object }) => !inHead.has(object)));
  const after = byKey(head.filter(({ object }) => !inBase.has(object)));
  const changes: ObjectChange[] = [];
  const names = new Set([...after.values()].map(({ object }) => object.metadata.name));
  const [heldBefore, heldAfter] = [heldObjects(held?.before, names), heldObjects(held?.after, names)];
  let valued = 0;
  for (const [key, { object, location }] of after) {
    const old = before.get(key);
    if (old === undefined) changes.push({ change: 'created', ref: refOf(object), fields: [], location });
    else {
      const fields = changedFields(old.object, object);
      if (fields.length === 0) continue;
      const isCompared = !WORKS.includes(object.kind) && valued++ < MAX_VALUED;
      const pair = [heldBefore.get(key) ?? old.object, heldAfter.get(key) ?? object] as const;
      const values = isCompared ? { values: valuesOf(pair, fields) } : {};
      changes.push({ change: 'changed', ref: refOf(object), fields, ...values, location });
    }
  }
  for (const [key, { object, location }] of before)
    if (!after.has(key)) changes.push({ change: 'deleted', ref: refOf(object), fields: [], location });
  return changes.sort((a, b) => compareText(sortKey(a), sortKey(b)));
}

/** A hub also sets defaults, and its base may not be there yet: only fields that differ in Git are changes. */
function valuesOf(
  pair: readonly [KubeObject, KubeObject],
  fields: readonly string[],
): readonly FieldChange[] {
  const [before, after] = pair.map((object) => {
    // The values of a Secret are known by its kind, and are not shown.
    const part: Record<string, unknown> = { kind: object.kind };
    for (const field of fields) copyField(object, field, part);
    return part;
  });
  return fieldChanges(before, after);
}

/** @param field as `changedFields` names it; the key behind the first point may contain points itself */
function copyField(object: KubeObject, field: string, part: Record<string, unknown>): void {
  const point = field.indexOf('.');
  const [outer, inner] = point < 0 ? [field, ''] : [field.slice(0, point), field.slice(point + 1)];
  const value: unknown = object[outer];
  if (inner === '') part[outer] = value;
  else if (isObject(value) && Object.hasOwn(value, inner))
    part[outer] = { ...(part[outer] as object | undefined), [inner]: value[inner] };
  else part[outer] ??= {};
}

function heldObjects(
  inputs: Snapshot | undefined,
  names: ReadonlySet<string>,
): ReadonlyMap<string, KubeObject> {
  const objects = inputs === undefined ? [] : objectsOfSnapshot(inputs, ({ name }) => names.has(name));
  return new Map(objects.map((object) => [identityOf(object), object]));
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
