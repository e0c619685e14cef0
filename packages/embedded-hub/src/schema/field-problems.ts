import type { JsonValue } from '../json/json-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { chargeWork } from '../json/work-budget.ts';
import { type FieldPath, pathText } from './field-path.ts';
import { quotedValue } from './text/quoted-value.ts';

/** Allowed values that a message lists; an enumeration may have thousands. */
const MAX_LISTED = 100;
/** Rendering a problem costs far more than checking a value. */
const STEPS_PER_PROBLEM = 20;

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
  message: `Invalid value: ${quotedValue(value)}${detail === '' ? '' : `: ${detail}`}`,
});

/** @param found the actual type, or the text that does not have the type */
export const wrongType = (path: FieldPath | string, found: string, wanted: string): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueTypeInvalid',
  message: `Invalid value: ${quotedValue(found)}: ${text(path)} in body must be of type ${wanted}: ${quotedValue(found)}`,
});

export const unsupportedValue = (
  path: FieldPath | string,
  value: JsonValue,
  supported: readonly JsonValue[],
): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${quotedValue(value)}: supported values: ${listed(supported)}`,
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
  message: `Duplicate value: ${quotedValue(value)}${detail === '' ? '' : `: ${detail}`}`,
});

export const notFoundValue = (path: FieldPath | string, value: JsonValue, detail = ''): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueNotFound',
  message: `Not found: ${quotedValue(value)}${detail === '' ? '' : `: ${detail}`}`,
});

export const forbiddenField = (path: FieldPath | string, detail: string): FieldProblem => ({
  field: text(path),
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${detail}`,
});

export const IMMUTABLE = 'field is immutable';

function listed(values: readonly JsonValue[]): string {
  const texts = values.slice(0, MAX_LISTED).map((one) => quotedValue(one));
  if (values.length > MAX_LISTED) texts.push(`...(${String(values.length - MAX_LISTED)} more)`);
  return texts.join(', ');
}

function text(path: FieldPath | string): string {
  chargeWork(STEPS_PER_PROBLEM);
  return typeof path === 'string' ? path : pathText(path);
}
