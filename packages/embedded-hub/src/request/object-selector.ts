import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { toVersion } from '../scheme/to-version.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { COMMON_FIELDS, matchesFields } from './field-selector.ts';
import { matchesLabels } from './label-selector.ts';
import type { ListOptions } from './list-options.ts';

/**
 * Label and field selectors as one test of stored objects; field paths refer to the requested
 * version.
 */
export function selectorOf(
  ref: ResourceRef,
  options: Pick<ListOptions, 'labels' | 'fields'>,
): (entry: StoredObject) => boolean {
  const { labels, fields } = options;
  if (labels.length === 0 && fields.length === 0) return () => true;
  if (fields.length === 0) return ({ object }) => matchesLabels(labels, object);
  const inRequestVersion = dependsOnVersion(options) ? toVersion : (object: JsonObject): JsonObject => object;
  return ({ object }) =>
    matchesLabels(labels, object) && matchesFields(fields, inRequestVersion(object, ref));
}

/** Whether the result depends on the version of the objects; names are the same in all versions. */
export function dependsOnVersion({ fields }: Pick<ListOptions, 'fields'>): boolean {
  return fields.some(({ path }) => !COMMON_FIELDS.includes(path));
}
