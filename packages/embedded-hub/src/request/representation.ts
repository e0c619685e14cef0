import type { JsonObject } from '../json/json-value.ts';
import { apiVersionOf, type ResourceRef } from '../schema/resource-definition.ts';
import { toVersion } from '../scheme/to-version.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { partialMetadata } from '../table/table.ts';
import type { ResponseForm } from '../wire/negotiate.ts';
import { badRequest } from '../wire/status-errors.ts';

/**
 * The JSON of a stored object in the requested version; the stored text if that is the stored
 * version. Objects of built-in kinds need not be parsed for it; custom resources are, since their
 * definition may have changed.
 */
export function objectJson(entry: StoredObject, ref: ResourceRef): string {
  if (ref.definition.builtIn && entry.apiVersion === apiVersionOf(ref)) return entry.json();
  const inRequestVersion = toVersion(entry.object, ref);
  return inRequestVersion === entry.object ? entry.json() : JSON.stringify(inRequestVersion);
}

/** The same, or only its metadata. Callers render tables, since they know the number of rows. */
export function entryJson(entry: StoredObject, ref: ResourceRef, form: ResponseForm): string {
  return form.as === 'partial'
    ? JSON.stringify(partialMetadata(toVersion(entry.object, ref)))
    : objectJson(entry, ref);
}

export function objectsInVersion(entries: readonly StoredObject[], ref: ResourceRef): JsonObject[] {
  return entries.map((entry) => toVersion(entry.object, ref));
}

export type IncludeObject = 'None' | 'Metadata' | 'Object';

/**
 * How much of each object the rows of a Table contain.
 * @throws StatusError 400
 */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject');
  if (value === null || value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(`includeObject: got ${JSON.stringify(value)}, expected None, Metadata or Object`);
}
