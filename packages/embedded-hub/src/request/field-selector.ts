import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject, textAt } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { badRequest } from '../wire/status-errors.ts';

export interface FieldRequirement {
  readonly path: string;
  readonly equals: boolean;
  readonly value: string;
}

/**
 * `metadata.name=x,status.phase!=Failed`. Commas and equals signs in values are escaped with a
 * backslash.
 * @throws StatusError 400
 */
export function parseFieldSelector(text: string): readonly FieldRequirement[] {
  return splitUnescaped(text)
    .filter((term) => term !== '')
    .map(parseTerm);
}

function splitUnescaped(text: string): string[] {
  const terms: string[] = [];
  let term = '';
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index] as string;
    if (char === '\\') {
      term += char + (text[index + 1] ?? '');
      index += 1;
    } else if (char === ',') {
      terms.push(term);
      term = '';
    } else term += char;
  }
  return [...terms, term];
}

function parseTerm(term: string): FieldRequirement {
  const match = /^([^=!\\]+)(==|!=|=)((?:[^\\=,]|\\[\\,=])*)$/.exec(term);
  if (match === null)
    throw badRequest(`invalid selector: ${JSON.stringify(term)}; can't understand ${JSON.stringify(term)}`);
  const value = (match[3] ?? '').replace(/\\([\\,=])/g, '$1');
  return { path: (match[1] ?? '').trim(), equals: match[2] !== '!=', value };
}

/** Fields that every kind can be selected by. */
export const COMMON_FIELDS: readonly string[] = ['metadata.name', 'metadata.namespace'];

/** @throws StatusError 400 when the kind cannot be selected by one of the fields */
export function checkFieldSelector(requirements: readonly FieldRequirement[], ref: ResourceRef): void {
  for (const { path } of requirements) {
    if (COMMON_FIELDS.includes(path) || ref.version.selectableFields.includes(path)) continue;
    throw badRequest(`field label not supported: ${path}`);
  }
}

export function matchesFields(requirements: readonly FieldRequirement[], object: JsonObject): boolean {
  return requirements.every(({ path, equals, value }) => (fieldText(object, path) === value) === equals);
}

function fieldText(object: JsonObject, path: string): string {
  let value: JsonValue | undefined = object;
  for (const part of path.split('.')) value = isObject(value) ? getOwn(value, part) : undefined;
  if (typeof value === 'string') return value;
  // The field `source` of an Event means `source.component`.
  if (isObject(value)) return textAt(value, 'component');
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** The name that the selector requires, which authorization treats as the requested name. */
export function selectedName(requirements: readonly FieldRequirement[]): string {
  return requirements.find(({ path, equals }) => path === 'metadata.name' && equals)?.value ?? '';
}
