import type { JsonValue } from '../json/json-value.ts';
import { isObject } from '../json/json-value.ts';

/*
 * Values as Go's fmt prints them once they were decoded from YAML into `interface{}`: messages of the API server quote them.
 * Source: Go `fmt`, verbs %v, %#v and %T; keys of maps are sorted.
 */

/** `%v`: `map[a:[1 x <nil>]]`. */
export function goText(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (isObject(value))
    return `map[${sortedEntries(value)
      .map(([key, one]) => `${key}:${goText(one)}`)
      .join(' ')}]`;
  return String(value);
}

/** `%#v`: `map[string]interface {}{"a":[]interface {}{1, "x", interface {}(nil)}}`. */
export function goSyntax(value: JsonValue): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isObject(value)) return String(value);
  const entries = sortedEntries(value).map(([key, one]) => `${JSON.stringify(key)}:${goSyntax(one)}`);
  return `map[string]interface {}{${entries.join(', ')}}`;
}

/** `%T`. */
export function goType(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value;
}

function sortedEntries(
  object: Readonly<Record<string, JsonValue>>,
): readonly (readonly [string, JsonValue])[] {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}
