import type { JsonValue } from '../json/json-value.ts';
import type { FieldProblem } from '../status/status-errors.ts';
import type { FieldPath } from './field-path.ts';
import { pathText } from './field-path.ts';

/** A value as the API server prints it in a sentence. */
export function shown(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return 'null';
  return typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value);
}

export const required = (path: FieldPath | string, detail = ''): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueRequired',
  message: detail === '' ? 'Required value' : `Required value: ${detail}`,
});

export const invalidValue = (
  path: FieldPath | string,
  value: JsonValue | undefined,
  detail: string,
): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${shown(value)}${detail === '' ? '' : `: ${detail}`}`,
});

/** @param found name of the type that stands there, or the text that is no such type */
export const wrongType = (path: FieldPath | string, found: string, wanted: string): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueTypeInvalid',
  message: `Invalid value: ${shown(found)}: ${text(path)} in body must be of type ${wanted}: ${shown(found)}`,
});

export const unsupportedValue = (
  path: FieldPath | string,
  value: JsonValue,
  supported: readonly JsonValue[],
): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${shown(value)}: supported values: ${supported.map((one) => shown(one)).join(', ')}`,
});

export const tooLong = (path: FieldPath | string, limitBytes: number): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${String(limitBytes)} bytes`,
});

export const tooMany = (path: FieldPath | string, count: number, limit: number): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueTooMany',
  message: `Too many: ${String(count)}: must have at most ${String(limit)} items`,
});

export const duplicate = (path: FieldPath | string, value: JsonValue, detail = ''): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${shown(value)}${detail === '' ? '' : `: ${detail}`}`,
});

export const notFoundValue = (path: FieldPath | string, value: JsonValue, detail = ''): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueNotFound',
  message: `Not found: ${shown(value)}${detail === '' ? '' : `: ${detail}`}`,
});

export const forbiddenField = (path: FieldPath | string, detail: string): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${detail}`,
});

export const IMMUTABLE = 'field is immutable';

function text(path: FieldPath | string): string {
  return typeof path === 'string' ? path : pathText(path);
}
