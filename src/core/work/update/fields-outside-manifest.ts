import type { FieldPath } from '../../model/field-path.ts';
import { jsonEqual } from '../../model/json-equal.ts';
import type { KubeObject } from '../../model/object-meta.ts';
import type { ManagedFields } from './untouched.ts';
import { objectContent } from './merge-content.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Differences between two states of an object in fields that are not in the manifest: a controller
 * added them, the API server set defaults, or our write removed them. A list with another number of
 * items than in the manifest counts as in the manifest.
 * @param content of the manifest
 */
export function differencesOutsideManifest(
  before: unknown,
  after: unknown,
  content: unknown,
): readonly FieldPath[] {
  if (jsonEqual(before, after)) return [];
  if (Array.isArray(content)) {
    if (!sameLength(content, before) || !sameLength(content, after)) return [];
    return content.flatMap((item, at) =>
      prefixed(at, differencesOutsideManifest(before[at], after[at], item)),
    );
  }
  if (!isMap(content) || !isMap(before) || !isMap(after)) return [];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) => {
    if (isInManifest(content, key))
      return prefixed(key, differencesOutsideManifest(before[key], after[key], content[key]));
    return jsonEqual(before[key], after[key]) ? [] : [[key]];
  });
}

/**
 * Fields that other managers wrote outside of metadata and status, and that are not in the
 * manifest.
 * @param live with managedFields, as read from the server
 * @param content of the manifest
 */
export function othersFieldsOutsideManifest(
  live: KubeObject,
  content: unknown,
  manager: string,
): readonly FieldPath[] {
  const entries = (live.metadata.managedFields ?? []) as readonly ManagedFields[];
  const found = new Map<string, FieldPath>();
  for (const { manager: by, subresource = '', fieldsV1 = {} } of entries) {
    if (by === manager || subresource !== '') continue;
    const { 'f:metadata': _metadata, 'f:status': _status, ...main } = fieldsV1;
    for (const path of ownedOutsideManifest(main, objectContent(live), content))
      found.set(JSON.stringify(path), path);
  }
  return [...found.values()];
}

/** @param tree of `fieldsV1` */
function ownedOutsideManifest(tree: Fields, live: unknown, content: unknown): readonly FieldPath[] {
  return Object.entries(tree).flatMap(([element, below]) => {
    const text = element.slice(2);
    if (element.startsWith('f:') && isMap(live) && isMap(content) && Object.hasOwn(live, text))
      return isInManifest(content, text)
        ? prefixed(text, ownedOutsideManifest(below as Fields, live[text], content[text]))
        : [[text]];
    if (!element.startsWith('k:') || !Array.isArray(live) || !sameLength(live, content)) return [];
    const at = live.findIndex((item) => hasKey(item, JSON.parse(text) as Fields));
    return at === -1 ? [] : prefixed(at, ownedOutsideManifest(below as Fields, live[at], content[at]));
  });
}

function prefixed(key: string | number, paths: readonly FieldPath[]): readonly FieldPath[] {
  return paths.map((path) => [key, ...path]);
}

function isInManifest(content: Fields, key: string): boolean {
  return Object.hasOwn(content, key) && content[key] !== undefined && content[key] !== null;
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sameLength(list: readonly unknown[], other: unknown): other is readonly unknown[] {
  return Array.isArray(other) && other.length === list.length;
}

function hasKey(item: unknown, key: Fields): boolean {
  return isMap(item) && Object.entries(key).every(([name, value]) => jsonEqual(item[name], value));
}
