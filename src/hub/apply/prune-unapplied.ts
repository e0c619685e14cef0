import type { JsonObject } from '../json/json-value.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldSet } from './field-set.ts';
import { difference, intersection, isEmptySet, union, unionOfAll } from './field-set.ts';
import type { Managers } from './managed-fields.ts';
import { removeFields } from './remove-fields.ts';
import { fieldsOf, withNamedFields } from './value-fields.ts';

/**
 * Removes what the manager applied before and no longer applies, unless somebody else owns it.
 * @param merged live object with the new configuration laid over it
 * @param last what the manager applied before
 * @param managers everybody, with the manager's new configuration as it was sent (metadata.name included, else it would go)
 */
export function pruneUnapplied(
  schema: Schema,
  merged: JsonObject,
  last: FieldSet,
  managers: Managers,
): JsonObject {
  if (isEmptySet(last)) return merged;
  const named = (set: FieldSet): FieldSet => withNamedFields(schema, set);
  const fields = (object: JsonObject): FieldSet => named(fieldsOf(schema, object));
  const before = fields(merged);
  const lastNamed = named(last);
  const bare = removeFields(schema, merged, lastNamed);
  const owned = unionOfAll([...managers.values()].map((entry) => entry.set));
  const kept = removeFields(schema, merged, difference(before, union(fields(bare), named(owned))));
  return removeFields(schema, merged, intersection(difference(before, fields(kept)), lastNamed));
}
