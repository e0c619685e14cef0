import { spendWork } from './work-budget.ts';
import type { JsonValue } from './json-value.ts';
import { isObject } from './json-value.ts';

/** Sorting costs more than looking. */
const STEPS_PER_KEY = 3;

/** JSON with sorted keys: equal values have equal texts. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) {
    spendWork(value.length);
    return `[${value.map(canonicalJson).join(',')}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value);
  spendWork(keys.length * STEPS_PER_KEY);
  const entries = keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as JsonValue)}`);
  return `{${entries.join(',')}}`;
}
