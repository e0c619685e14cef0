import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { isObject } from '../json/json-value.ts';
import type { Schema } from './schema.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { chargeKeys, chargeWork } from '../json/work-budget.ts';
import type { FieldPath } from './field-path.ts';
import { child } from './field-path.ts';
import { required, wrongType } from './field-problems.ts';
import { checkLimits } from './validate-limits.ts';
import { checkListType } from './validate-list-type.ts';
import { matchesNumberFormat, matchesStringFormat } from './text/value-format.ts';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
/** The metadata fields that a schema may restrict; the others have their own rules. */
const CHECKED_METADATA = ['name', 'generateName'];

/**
 * Checks a value against its structural schema, including value validations; reports all problems.
 */
export function validateValue(
  schema: Schema,
  value: JsonValue,
  problems: FieldProblem[],
  path?: FieldPath,
): void {
  if (value === null && (schema.nullable === true || acceptsAnything(schema))) return;
  const mismatch = typeMismatch(schema, value);
  if (mismatch !== undefined) {
    problems.push(wrongType(path === undefined ? '' : path, mismatch.found, mismatch.wanted));
    return;
  }
  if (isObject(value)) validateObject(schema, value, problems, path);
  else if (Array.isArray(value)) validateList(schema, value, problems, path);
  if (schema.limits !== undefined)
    checkLimits(schema.limits, value, { problems, path, validate: validateValue });
}

function validateObject(
  schema: Schema,
  object: JsonObject,
  problems: FieldProblem[],
  path: FieldPath | undefined,
): void {
  const { required: requiredKeys = [] } = schema;
  const keys = Object.keys(object);
  chargeKeys(keys.length + requiredKeys.length);
  for (const key of requiredKeys) {
    if (!Object.hasOwn(object, key)) problems.push(required(child(path, key)));
  }
  for (const key of schema.name === OBJECT_META ? CHECKED_METADATA : keys) {
    if (!Object.hasOwn(object, key)) continue;
    const known = schema.properties?.get(key) ?? (schema.additional === true ? undefined : schema.additional);
    if (known !== undefined) validateValue(known, object[key] as JsonValue, problems, child(path, key));
  }
}

function validateList(
  schema: Schema,
  list: readonly JsonValue[],
  problems: FieldProblem[],
  path: FieldPath | undefined,
): void {
  if (schema.items === undefined) return;
  chargeWork(list.length);
  for (const [index, item] of list.entries()) validateValue(schema.items, item, problems, child(path, index));
  checkListType(schema, list, problems, path);
}

interface TypeMismatch {
  readonly found: string;
  readonly wanted: string;
}

function typeMismatch(schema: Schema, value: JsonValue): TypeMismatch | undefined {
  const found = typeName(value);
  if (schema.intOrString === true) {
    if (found === 'integer' || found === 'string' || (found === 'number' && schema.format === 'quantity'))
      return undefined;
    return { found, wanted: 'integer,string' };
  }
  if (schema.type === '') return undefined;
  const fits = found === schema.type || (schema.type === 'number' && found === 'integer');
  if (!fits) return { found, wanted: schema.type };
  const { format } = schema;
  if (format === undefined) return undefined;
  if (typeof value === 'string' && !matchesStringFormat(format, value))
    return { found: value, wanted: format };
  if (typeof value === 'number' && !matchesNumberFormat(format, value))
    return { found: String(value), wanted: format };
  return undefined;
}

function acceptsAnything(schema: Schema): boolean {
  return schema.type === '' && schema.intOrString !== true;
}

/** The JSON type, as schemas name it. */
export function typeName(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
