import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject, setOwn } from '../json/json-value.ts';
import type { Schema } from './schema.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import type { FieldPath } from './field-path.ts';
import { child } from './field-path.ts';
import { duplicate } from './field-problems.ts';
import { canonicalJson } from '../json/canonical-json.ts';

/** Items of a set must be unique; keys of a keyed list, too. */
export function checkListType(
  schema: Schema,
  list: readonly JsonValue[],
  problems: FieldProblem[],
  path: FieldPath | undefined,
): void {
  if (schema.listType !== 'set' && schema.listType !== 'map') return;
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const identity = schema.listType === 'set' ? item : keyOf(schema, item);
    const text = canonicalJson(identity);
    if (seen.has(text)) problems.push(duplicate(child(path, index), identity));
    seen.add(text);
  }
}

function keyOf(schema: Schema, item: JsonValue): JsonValue {
  const key: JsonObject = {};
  if (!isObject(item)) return item;
  for (const name of schema.listMapKeys ?? []) {
    const value = getOwn(item, name) ?? schema.items?.properties?.get(name)?.default;
    if (value !== undefined) setOwn(key, name, value);
  }
  return key;
}
