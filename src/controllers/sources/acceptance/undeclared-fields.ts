import type { FieldPath } from '@berth/kube/model/field-path';
import { fieldError, type FieldFinding } from '../../../core/sources/source-finding.ts';
import { UNKNOWN_FIELD, unknownFieldHint } from '../../../core/sources/unknown-field.ts';
import { getOwn, isObject, type JsonValue } from '@berth/embedded-hub/json/json-value';
import type { Schema } from '@berth/embedded-hub/schema/schema';

/** Finds the fields that a schema does not have. */
export function* undeclaredFields(
  schema: Schema,
  value: JsonValue | undefined,
  path: FieldPath = [],
): Generator<FieldFinding> {
  if (Array.isArray(value)) {
    if (schema.items === undefined) return;
    for (const [index, item] of value.entries())
      yield* undeclaredFields(schema.items, item, [...path, index]);
    return;
  }
  if (!isObject(value) || schema.type !== 'object') return;
  const isOpen = schema.preserveUnknown === true || schema.additional === true;
  const rest = schema.additional === true ? undefined : schema.additional;
  for (const key of Object.keys(value)) {
    const known = schema.properties?.get(key) ?? rest;
    if (known !== undefined) yield* undeclaredFields(known, getOwn(value, key), [...path, key]);
    else if (!isOpen) yield undeclared([...path, key], key, schema.properties?.keys() ?? []);
  }
}

function undeclared(path: FieldPath, key: string, known: Iterable<string>): FieldFinding {
  return fieldError('source.undeclared-field', path, UNKNOWN_FIELD, unknownFieldHint(key, known));
}
