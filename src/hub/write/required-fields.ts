import { child } from '../admit/field-path.ts';
import type { FieldPath } from '../admit/field-path.ts';
import { required } from '../admit/field-problems.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject } from '../json/json-value.ts';
import type { Schema } from '../scheme/schema.ts';
import type { FieldProblem } from '../status/status-errors.ts';
import { spendOnKeys, spendWork } from '../work/work-budget.ts';

/**
 * Required fields of built-in kinds. Their types hold numbers and booleans by value, so an absent one is just zero; the server writes
 * status itself. What is left - texts, objects and lists that must be there - is what clients forget.
 */
export function requiredOfBuiltin(schema: Schema, object: JsonObject): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [key, known] of schema.properties ?? []) {
    const value = getOwn(object, key);
    if (key === 'status' || key === 'metadata') continue;
    if (value !== undefined) check(known, value, child(undefined, key), problems);
    else if (schema.required?.includes(key) === true) problems.push(required(key));
  }
  return problems;
}

function check(schema: Schema, value: JsonValue, path: FieldPath, problems: FieldProblem[]): void {
  if (Array.isArray(value)) {
    spendWork(value.length);
    for (const [index, item] of value.entries()) {
      if (schema.items !== undefined) check(schema.items, item, child(path, index), problems);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const key of schema.required ?? []) {
    const known = schema.properties?.get(key);
    const found = getOwn(value, key);
    const absent =
      found === undefined || (known?.type === 'string' && found === '' && known.format === undefined);
    if (absent && isDemanded(known)) problems.push(required(child(path, key)));
  }
  const keys = Object.keys(value);
  spendOnKeys(keys.length);
  for (const key of keys) {
    const known = schema.properties?.get(key) ?? (schema.additional === true ? undefined : schema.additional);
    if (known !== undefined) check(known, value[key] as JsonValue, child(path, key), problems);
  }
}

function isDemanded(schema: Schema | undefined): boolean {
  return (
    schema !== undefined && (schema.type === 'string' || schema.type === 'object' || schema.type === 'array')
  );
}
