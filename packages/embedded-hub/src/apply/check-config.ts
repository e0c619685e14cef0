import { type JsonObject, type JsonValue, isObject, objectAt, textAt } from '../json/json-value.ts';
import { chargeKeys, chargeWork } from '../json/work-budget.ts';
import { itemElement } from '../schema/field-shape.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';
import { cutText, StatusError } from '../wire/status-error.ts';
import { elementText } from './field-set.ts';

/** Maximum number of problems in one response. */
const MAX_REPORTED = 100;
const MAX_PATH_LENGTH = 1_024;

/** A path in the configuration; rendered only when there is a problem. */
interface ConfigPath {
  readonly parent: ConfigPath | undefined;
  /** Index of a list item, or an element in the notation of field sets. */
  readonly element: number | string;
}

class Problems {
  readonly #texts: string[] = [];
  #count = 0;

  add(path: ConfigPath | undefined, what: string): void {
    this.#count += 1;
    if (this.#texts.length < MAX_REPORTED) this.#texts.push(`${pathText(path)}: ${what}`);
  }

  /** Undefined if there is no problem. */
  text(): string | undefined {
    if (this.#count <= 1) return this.#texts[0];
    const missing = this.#count - this.#texts.length;
    const lines = missing === 0 ? this.#texts : [...this.#texts, `...(${String(missing)} more errors)`];
    return `errors:\n${lines.map((one) => `  ${one}`).join('\n')}`;
  }
}

/**
 * Rejects a configuration that does not fit the schema: unknown fields, wrong types, items without
 * keys or with equal keys. The response is a 500 without a reason, as in the API server, which
 * treats it as an internal error. Source of the texts: sigs.k8s.io/structured-merge-diff
 * `typed/validate.go`, `typed/helpers.go`.
 */
export function checkConfig(ref: ResourceRef, config: JsonObject): void {
  const problems = new Problems();
  checkMap(ref.version.schema, config, undefined, problems);
  const text = problems.text();
  if (text === undefined) return;
  const metadata = objectAt(config, 'metadata');
  const subject = `${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}; ${ref.definition.group}/${ref.version.name}, Kind=${ref.definition.kind}`;
  throw new StatusError(500, '', `failed to create typed patch object (${subject}): ${text}`);
}

function pathText(path: ConfigPath | undefined): string {
  const elements: (number | string)[] = [];
  for (let at = path; at !== undefined; at = at.parent) elements.push(at.element);
  let text = '';
  for (const element of elements.reverse()) {
    text += typeof element === 'number' ? `[${String(element)}]` : elementText(element);
    if (text.length > MAX_PATH_LENGTH) break;
  }
  return cutText(text, MAX_PATH_LENGTH);
}

function check(schema: Schema, value: JsonValue, path: ConfigPath, problems: Problems): void {
  if (value === null || schema.type === '') return;
  const wanted = wantedShape(schema);
  const found = Array.isArray(value) ? 'list' : isObject(value) ? 'map' : typeof value;
  if (wanted.type !== found) {
    problems.add(path, `expected ${wanted.text}, got ${foundText(wanted.type, value)}`);
    return;
  }
  if (isObject(value)) checkMap(schema, value, path, problems);
  else if (Array.isArray(value)) checkList(schema, value, path, problems);
}

/** The found type, as Go names it. */
function foundText(wanted: string, value: JsonValue): string {
  if (wanted === 'number') return goType(value);
  const text =
    wanted === 'string' ? `&value.valueUnstructured{Value:${goSyntax(value)}}` : `&{${goText(value)}}`;
  return cutText(text, MAX_PATH_LENGTH);
}

function wantedShape(schema: Schema): { readonly type: string; readonly text: string } {
  if (schema.type === 'object') return { type: 'map', text: 'map' };
  if (schema.type === 'array') return { type: 'list', text: 'list' };
  if (schema.type === 'integer' || schema.type === 'number')
    return { type: 'number', text: 'numeric (int or float)' };
  return { type: schema.type, text: schema.type };
}

function checkMap(
  schema: Schema,
  object: JsonObject,
  parent: ConfigPath | undefined,
  problems: Problems,
): void {
  const open = schema.preserveUnknown === true || schema.additional === true;
  const keys = Object.keys(object);
  chargeKeys(keys.length);
  for (const key of keys) {
    const known = schema.properties?.get(key) ?? (schema.additional === true ? undefined : schema.additional);
    const path = { parent, element: `f:${key}` };
    if (known !== undefined) check(known, object[key] as JsonValue, path, problems);
    else if (!open) problems.add(path, 'field not declared in schema');
  }
}

function checkList(schema: Schema, list: readonly JsonValue[], parent: ConfigPath, problems: Problems): void {
  const identified = schema.listType === 'set' || schema.listType === 'map';
  const seen = new Set<string>();
  chargeWork(list.length);
  for (const [index, item] of list.entries()) {
    if (schema.listType === 'map' && !isObject(item)) {
      const what = `element ${String(index)}: associative list with keys may not have non-map elements`;
      problems.add(parent, what);
      continue;
    }
    const element = identified ? itemElement(schema, item) : undefined;
    if (schema.items !== undefined)
      check(schema.items, item, { parent, element: element ?? index }, problems);
    if (!identified) continue;
    if (element === undefined) problems.add(parent, omittedKey(schema, item, index));
    else if (seen.has(element)) problems.add(parent, `duplicate entries for key ${elementText(element)}`);
    else seen.add(element);
  }
}

function omittedKey(schema: Schema, item: JsonValue, index: number): string {
  const missing =
    (schema.listMapKeys ?? []).find((key) => !isObject(item) || !Object.hasOwn(item, key)) ?? '';
  return `element ${String(index)}: associative list with keys has an element that omits key field "${missing}" (and doesn't have default value)`;
}

/*
 * Values as Go's fmt prints them once they were decoded from YAML into `interface{}`: messages of the API server quote them.
 * Source: Go `fmt`, verbs %v, %#v and %T; keys of maps are sorted.
 */

/** `%v`: `map[a:[1 x <nil>]]`. */
function goText(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (isObject(value))
    return `map[${sortedEntries(value)
      .map(([key, one]) => `${key}:${goText(one)}`)
      .join(' ')}]`;
  return String(value);
}

/** `%#v`: `map[string]interface {}{"a":[]interface {}{1, "x", interface {}(nil)}}`. */
function goSyntax(value: JsonValue): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isObject(value)) return String(value);
  const entries = sortedEntries(value).map(([key, one]) => `${JSON.stringify(key)}:${goSyntax(one)}`);
  return `map[string]interface {}{${entries.join(', ')}}`;
}

/** `%T`. */
function goType(value: JsonValue): string {
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
