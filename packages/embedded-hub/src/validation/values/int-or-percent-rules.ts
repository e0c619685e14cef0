import type { JsonValue } from '../../json/json-value.ts';
import type { FieldReporter } from './field-reporter.ts';

const PERCENT = /^[0-9]+%$/;
const PERCENT_TEXT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/**
 * A non-negative integer or a percentage. Source: pkg/apis/apps/validation
 * (ValidatePositiveIntOrPercent).
 */
export function checkCountOrPercent(value: JsonValue | undefined, at: FieldReporter): void {
  if (typeof value === 'string' && !PERCENT.test(value)) at.invalid(value, PERCENT_TEXT);
  else if (typeof value === 'number') at.nonNegative(value);
}

/** A percentage of at most 100; a number may be larger. */
export function checkAtMostHundredPercent(value: JsonValue | undefined, at: FieldReporter): void {
  if (isPercent(value) && Number(value.slice(0, -1)) > 100)
    at.invalid(value, 'must not be greater than 100%');
}

/** The number of a count or of a percentage. */
export function countOrPercent(value: JsonValue | undefined): number {
  if (isPercent(value)) return Number(value.slice(0, -1));
  return typeof value === 'number' ? value : 0;
}

function isPercent(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && PERCENT.test(value);
}
