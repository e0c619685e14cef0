import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { isObject, objectAt, textAt } from '../json/json-value.ts';
import type { ResourceRef } from '../scheme/resource-definition.ts';
import { apiVersionOf } from '../scheme/resource-definition.ts';
import type { Schema } from '../scheme/schema.ts';
import { badRequest } from '../status/status-errors.ts';
import { elementText } from './field-set.ts';
import { itemElement } from './field-shape.ts';

/** Refuses (400) a configuration that has no place in the schema: unknown fields, wrong types, items without or with equal keys. */
export function checkConfig(ref: ResourceRef, config: JsonObject): void {
  const problems: string[] = [];
  checkMap(ref.version.schema, config, '', problems);
  if (problems.length === 0) return;
  const metadata = objectAt(config, 'metadata');
  const subject = `${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}; ${apiVersionOf(ref)}, Kind=${ref.definition.kind}`;
  const text =
    problems.length === 1
      ? (problems[0] as string)
      : `errors:\n${problems.map((one) => `  ${one}`).join('\n')}`;
  throw badRequest(`failed to create typed patch object (${subject}): ${text}`);
}

function check(schema: Schema, value: JsonValue, path: string, problems: string[]): void {
  if (value === null || schema.type === '') return;
  const wanted = wantedShape(schema);
  const found = Array.isArray(value) ? 'list' : isObject(value) ? 'map' : typeof value;
  if (wanted.type !== found) {
    problems.push(`${path}: expected ${wanted.text}, got ${found}`);
    return;
  }
  if (isObject(value)) checkMap(schema, value, path, problems);
  else if (Array.isArray(value)) checkList(schema, value, path, problems);
}

function wantedShape(schema: Schema): { readonly type: string; readonly text: string } {
  if (schema.type === 'object') return { type: 'map', text: 'map' };
  if (schema.type === 'array') return { type: 'list', text: 'list' };
  if (schema.type === 'integer' || schema.type === 'number')
    return { type: 'number', text: 'numeric (int or float)' };
  return { type: schema.type, text: schema.type };
}

function checkMap(schema: Schema, object: JsonObject, path: string, problems: string[]): void {
  const open = schema.preserveUnknown === true || schema.additional === true;
  for (const key of Object.keys(object)) {
    const known = schema.properties?.get(key) ?? (schema.additional === true ? undefined : schema.additional);
    const place = `${path}.${key}`;
    if (known !== undefined) check(known, object[key] as JsonValue, place, problems);
    else if (!open) problems.push(`${place}: field not declared in schema`);
  }
}

function checkList(schema: Schema, list: readonly JsonValue[], path: string, problems: string[]): void {
  const identified = schema.listType === 'set' || schema.listType === 'map';
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    if (schema.items !== undefined) {
      const element = identified ? itemElement(schema, item) : undefined;
      check(
        schema.items,
        item,
        `${path}${element === undefined ? `[${String(index)}]` : elementText(element)}`,
        problems,
      );
    }
    if (!identified) continue;
    const element = itemElement(schema, item);
    if (element === undefined) {
      const missing =
        (schema.listMapKeys ?? []).find((key) => !isObject(item) || !Object.hasOwn(item, key)) ?? '';
      problems.push(
        `${path}: element ${String(index)}: associative list with keys has an element that omits key field "${missing}" (and doesn't have default value)`,
      );
    } else if (seen.has(element)) problems.push(`${path}: duplicate entries for key ${elementText(element)}`);
    else seen.add(element);
  }
}
