import { StringMap, type TemplateValue } from '@berth/go-template/values';
import { type JsonValue, setKey } from '../json/json-value.ts';
import type { RawJson } from '../json/raw-json.ts';

/**
 * One parameter set, a Go `map[string]interface {}`. It is mutable and may share parts with other
 * sets. Argo CD merges parameters in place, so a change of a shared part is visible in all sets.
 */
export type Params = Record<string, ParamValue>;

export type ParamValue =
  | null
  | boolean
  | string
  | number
  | RawJson
  | StringMap
  | PluginMap
  | ParamValue[]
  | { [key: string]: ParamValue };

/** A Go `[]map[string]interface {}`. Flattening and selectors treat it as one value. */
export class ParamsList extends Array<Params> {}

/**
 * A Go map of another type than `map[string]interface {}`. The plugin generator puts it under
 * `generator.input`.
 */
export class PluginMap {
  [key: string]: ParamValue;
}

export type GoMapKind = 'any' | 'string' | 'plugin';

/** The kind of Go map that the value is; undefined if it is not a map. */
export function mapKindOf(value: ParamValue | undefined): GoMapKind | undefined {
  if (value instanceof StringMap) return 'string';
  if (value instanceof PluginMap) return 'plugin';
  return isParams(value) ? 'any' : undefined;
}

export function isParams(value: ParamValue | undefined): value is Params {
  return typeof value === 'object' && value !== null && value.constructor === Object;
}

/**
 * A copy of a JSON value as a parameter. Merging changes parameters in place, so it needs a copy.
 */
export function toParamValue(json: JsonValue): ParamValue {
  if (json === null || typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map(toParamValue);
  return toParams(json as { readonly [key: string]: JsonValue });
}

export function toParams(json: { readonly [key: string]: JsonValue }): Params {
  const params: Params = {};
  for (const key of Object.keys(json)) setKey(params, key, toParamValue(json[key] as JsonValue));
  return params;
}

export function asTemplateValue(params: Params): TemplateValue {
  return params;
}
