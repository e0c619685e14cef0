import { isObject } from '@berth/runtime/json/json-value';
import type { FieldPath } from '@berth/kube/model/field-path';
import { closestName } from '@berth/runtime/text/closest-name';
import { UNKNOWN_FIELD, unknownFieldHint } from '../../../core/sources/source-finding.ts';
import { anyObject, namedPattern, patternOf, time } from './meta.ts';
import type { Schema } from './schema.ts';

/** One finding of a schema check. `at`: whether the key or the value of `path` is wrong. */
export interface SchemaFinding {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  /** See `Problem`. */
  readonly isObjectUsed?: true;
  readonly path: FieldPath;
  readonly at: 'key' | 'value';
  /** Got what, expected what; the caller adds the name of the field. */
  readonly message: string;
  readonly hint?: string;
}

/**
 * Checks a value against a schema, and reports all problems.
 * @param unknownFieldMessage what is wrong with a field that the schema does not have
 */
export function checkSchema(
  value: unknown,
  schema: Schema,
  unknownFieldMessage = UNKNOWN_FIELD,
): SchemaFinding[] {
  const findings: SchemaFinding[] = [];
  check(value, schema, { path: [], findings, unknownFieldMessage });
  return findings;
}

interface Walk {
  readonly path: (string | number)[];
  readonly findings: SchemaFinding[];
  readonly unknownFieldMessage: string;
}

function check(value: unknown, schema: Schema, walk: Walk): void {
  if (schema['x-kubernetes-int-or-string'] === true) return checkIntOrString(value, schema, walk);
  if (schema['x-kubernetes-embedded-resource'] === true) return check(value, anyObject, walk);
  switch (schema.type) {
    case 'string':
      return checkString(value, schema.format === 'date-time' ? { ...schema, ...time } : schema, walk);
    case 'boolean':
      if (typeof value !== 'boolean') wrongType(walk, value, 'true or false');
      return;
    case 'integer':
      return checkInteger(value, schema, walk);
    case 'array':
      return checkList(value, schema, walk);
    case 'object':
      if (typeof schema.additionalProperties === 'object')
        return checkMap(value, schema.additionalProperties, walk);
      if (schema.properties !== undefined) checkObject(value, schema, walk);
      return;
    case undefined:
      return;
  }
}

function checkIntOrString(value: unknown, { pattern = '' }: Schema, walk: Walk): void {
  const { description } = namedPattern(pattern);
  if (typeof value !== 'number' && typeof value !== 'string') wrongType(walk, value, description);
  else if (!patternOf(pattern).test(String(value))) report(walk, 'schema.pattern', value, description);
}

function checkString(value: unknown, schema: Schema, walk: Walk): void {
  if (value === null && schema.nullable === true) return;
  if (typeof value !== 'string') {
    const quote = typeof value === 'number' || typeof value === 'boolean';
    return wrongType(walk, value, describeString(schema), quote ? 'put the value in quotes' : undefined);
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    const meant = closestName(value, schema.enum);
    const hint = meant === undefined ? undefined : `did you mean ${meant}?`;
    return report(walk, 'schema.enum', value, { expected: describeString(schema), hint });
  }
  const short = schema.minLength !== undefined && value.length < schema.minLength;
  const long = schema.maxLength !== undefined && value.length > schema.maxLength;
  if (short || long) return report(walk, 'schema.length', value, describeString(schema));
  if (schema.pattern !== undefined && !patternOf(schema.pattern).test(value))
    report(walk, 'schema.pattern', value, describeString(schema));
}

function describeString(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((word) => (word === '' ? '""' : word)).join(', ');
  const { minLength = 0, maxLength, pattern, description } = schema;
  const what = description ?? (pattern === undefined ? 'a string' : namedPattern(pattern).description);
  if (maxLength !== undefined) return `${what} of ${minLength} to ${maxLength} characters`;
  return minLength > 0 ? `${what} that is not empty` : what;
}

function checkInteger(value: unknown, schema: Schema, walk: Walk): void {
  const range = schema.format === 'int32' ? INT32 : undefined;
  const { minimum = range?.minimum, maximum = range?.maximum ?? Number.MAX_SAFE_INTEGER } = schema;
  let expected = 'an integer';
  if (minimum !== undefined)
    expected +=
      maximum === Number.MAX_SAFE_INTEGER ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
  if (typeof value !== 'number') {
    const quoted = typeof value === 'string' && /^-?\d+$/.test(value);
    return wrongType(walk, value, expected, quoted ? 'remove the quotes' : undefined);
  }
  if (!Number.isInteger(value)) return wrongType(walk, value, expected);
  if (minimum !== undefined && (value < minimum || value > maximum))
    report(walk, 'schema.range', value, expected);
}

const INT32 = { minimum: -2147483648, maximum: 2147483647 };

function checkMap(value: unknown, values: Schema, walk: Walk): void {
  if (!isObject(value)) return wrongType(walk, value, 'a mapping');
  for (const key of Object.keys(value)) {
    walk.path.push(key);
    check(value[key], values, walk);
    walk.path.pop();
  }
}

function checkList(value: unknown, schema: Schema, walk: Walk): void {
  if (!Array.isArray(value)) return wrongType(walk, value, 'a list');
  const { items = {}, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  const keys = schema['x-kubernetes-list-map-keys'];
  const uniqueBy = keys?.length === 1 ? keys[0] : undefined;
  if (value.length < minItems || value.length > maxItems) {
    const expected = value.length < minItems ? `at least ${minItems}` : `at most ${maxItems}`;
    add(walk, { code: 'schema.length', message: `got ${value.length} entries, expected ${expected}` });
  }
  const seen = new Set<unknown>();
  value.forEach((item: unknown, index) => {
    walk.path.push(index);
    check(item, items, walk);
    const key = uniqueBy === undefined || !isObject(item) ? undefined : item[uniqueBy];
    if (key !== undefined && seen.has(key))
      add(walk, {
        code: 'schema.duplicate',
        message: `got a second entry with ${uniqueBy} ${describeValue(key)}`,
      });
    seen.add(key);
    walk.path.pop();
  });
}

function checkObject(value: unknown, schema: Schema, walk: Walk): void {
  if (!isObject(value)) return wrongType(walk, value, 'a mapping');
  const { properties = {}, required = [] } = schema;
  for (const name of required) {
    if (Object.hasOwn(value, name) || properties[name]?.default !== undefined) continue;
    walk.path.push(name);
    add(walk, { code: 'schema.required', message: 'is missing', at: 'key' });
    walk.path.pop();
  }
  for (const key of Object.keys(value)) {
    const field = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (field === undefined && schema.additionalProperties === true) continue;
    walk.path.push(key);
    if (field !== undefined) check(value[key], field, walk);
    else unknownField(walk, key, properties);
    walk.path.pop();
  }
}

function unknownField(walk: Walk, key: string, fields: Readonly<Record<string, Schema>>): void {
  const hint = unknownFieldHint(key, Object.keys(fields));
  walk.findings.push({
    severity: 'error',
    // A hub with a newer definition may have the field, so the hub decides.
    isObjectUsed: true,
    code: 'schema.unknown-field',
    path: [...walk.path],
    at: 'key',
    message: walk.unknownFieldMessage,
    ...(hint === undefined ? {} : { hint }),
  });
}

function wrongType(walk: Walk, value: unknown, expected: string, hint?: string): void {
  const empty = value === null ? 'give it a value or remove the key' : keyHint(value, expected);
  report(walk, 'schema.type', value, { expected, hint: hint ?? empty });
}

/** A line without a space after its colon, or without a colon, is a text. */
function keyHint(value: unknown, expected: string): string | undefined {
  const [, key, text] =
    expected === 'a mapping' ? (/^([\w.-]+)[: ]\s*(\S.*)$/.exec(String(value)) ?? []) : [];
  return key === undefined || text === undefined ? undefined : `write "${key}: ${text}"`;
}

function report(walk: Walk, code: string, value: unknown, wanted: Wanted): void {
  const { expected, hint } = typeof wanted === 'string' ? { expected: wanted } : wanted;
  const message = `got ${describeValue(value)}, expected ${expected}`;
  add(walk, hint === undefined ? { code, message } : { code, message, hint });
}

type Wanted = string | { readonly expected: string; readonly hint?: string | undefined };

function add(
  walk: Walk,
  finding: Pick<SchemaFinding, 'code' | 'message'> & Partial<Pick<SchemaFinding, 'at' | 'hint'>>,
): void {
  walk.findings.push({ severity: 'error', path: [...walk.path], at: 'value', ...finding });
}

const SHOWN_LENGTH = 60;

/** A short description of a value for a message. The type comes first, so that `"3"` and `3` cannot be confused. */
export function describeValue(value: unknown): string {
  if (value === null) return 'nothing (null)';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return `string ${JSON.stringify(value.length > SHOWN_LENGTH ? `${value.slice(0, SHOWN_LENGTH)}…` : value)}`;
    case 'number':
      return `number ${value}`;
    case 'boolean':
      return `boolean ${value}`;
    default:
      return 'a mapping';
  }
}
