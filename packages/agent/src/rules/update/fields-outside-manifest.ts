import type { FieldPath } from '@berth/kube/model/field-path';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { AGENT_MANAGER } from '../applied/ownership.ts';
import { objectContent } from './plan-update.ts';

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
  const others = mainEntries(live).filter((entry) => entry.manager !== manager);
  return fieldsOutsideManifest(live, content).filter((path) => isOwned(others, live, path));
}

/**
 * Fields that the API server itself gave the object, such as the selector of a Job: the manifest does not name them, and
 * no manager owns them. None if the server does not track managers.
 * @param live with managedFields, as read from the server
 * @param content of the manifest
 */
export function assignedFields(live: KubeObject, content: unknown): readonly FieldPath[] {
  const entries = mainEntries(live);
  if (entries.length === 0) return [];
  return fieldsOutsideManifest(live, content).filter((path) => !isOwned(entries, live, path));
}

/**
 * Fields that may have to stay because the API server refuses a write without them, in the order in which to try: those
 * that the manager did not write, and all.
 * @param live with managedFields, as read from the server
 * @param content of the manifest
 */
export function keepableFields(
  live: KubeObject,
  content: unknown,
  manager: string,
): readonly (readonly FieldPath[])[] {
  const all = fieldsOutsideManifest(live, content);
  const own = mainEntries(live).filter((entry) => entry.manager === manager);
  const notWritten = all.filter((path) => !isOwned(own, live, path));
  return [notWritten, ...(notWritten.length === all.length ? [] : [all])].filter(({ length }) => length > 0);
}

function fieldsOutsideManifest(live: KubeObject, content: unknown): readonly FieldPath[] {
  return differencesOutsideManifest(objectContent(live), content, content);
}

/** Entries of managers that wrote more than the status. */
function mainEntries({ metadata }: KubeObject): readonly ManagedFields[] {
  const entries = (metadata.managedFields ?? []) as readonly ManagedFields[];
  return entries.filter(({ subresource }) => subresource !== 'status');
}

function isOwned(entries: readonly ManagedFields[], live: KubeObject, path: FieldPath): boolean {
  return entries.some(({ fieldsV1 = {} }) => containsPath(fieldsV1, objectContent(live), path));
}

/** @param tree of `fieldsV1`. An empty one owns all that is below. */
function containsPath(tree: Fields, live: unknown, path: FieldPath): boolean {
  const [part, ...rest] = path;
  if (part === undefined) return true;
  const next = typeof part === 'number' ? itemElement(tree, live, part) : `f:${part}`;
  const below = next === undefined ? undefined : (tree[next] as Fields | undefined);
  if (below === undefined) return false;
  const value = (live as Readonly<Record<string | number, unknown>> | undefined)?.[part];
  return Object.keys(below).length === 0 || containsPath(below, value, rest);
}

/** The element of the tree that is about this item of a list. */
function itemElement(tree: Fields, live: unknown, at: number): string | undefined {
  const item = (live as readonly unknown[])[at];
  return Object.keys(tree).find(
    (element) => element.startsWith('k:') && hasKey(item, JSON.parse(element.slice(2)) as Fields),
  );
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

/** Whether an item of a list is the one with this key of `fieldsV1`. */
export function hasKey(item: unknown, key: Fields): boolean {
  return isMap(item) && Object.entries(key).every(([name, value]) => jsonEqual(item[name], value));
}

/** An entry of `metadata.managedFields`, as far as it is read here. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

/**
 * Whether a live object still has all fields that the agent wrote. Other fields are defaults of the
 * API server, or were added by others (`othersFieldsOutsideManifest`).
 * @param live with managedFields, as read from the server
 */
export function isUntouched(wanted: KubeObject, live: KubeObject): boolean {
  const entries = (live.metadata.managedFields ?? []) as readonly ManagedFields[];
  const ours = entries.some((entry) => entry.manager === AGENT_MANAGER && mainFields(entry).length > 0);
  return ours && isWithin(objectContent(wanted), objectContent(live));
}

function mainFields({ subresource = '', fieldsV1 = {} }: ManagedFields): readonly string[] {
  if (subresource !== '') return [];
  return Object.keys(fieldsV1).filter((field) => field !== 'f:metadata' && field !== 'f:status');
}

/** Maps may have more keys than wanted, lists must have the same length. */
function isWithin(wanted: unknown, live: unknown): boolean {
  if (wanted === null || wanted === undefined) return live === null || live === undefined;
  if (typeof wanted !== 'object') return wanted === live;
  if (typeof live !== 'object' || live === null || Array.isArray(wanted) !== Array.isArray(live))
    return false;
  if (Array.isArray(wanted) && wanted.length !== (live as readonly unknown[]).length) return false;
  const actual = live as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(([key, value]) =>
    isWithin(value, Object.hasOwn(actual, key) ? actual[key] : undefined),
  );
}
