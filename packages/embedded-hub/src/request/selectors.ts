import {
  type LabelMap,
  matchesRequirement,
  type Requirement,
} from '@berth/kube/model/selector/label-selector-requirement';
import { labelKeyProblem, labelValueProblem } from '@berth/kube/model/selector/label-syntax';
import { getOwn, isObject, type JsonObject, type JsonValue, objectAt, textAt } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { badRequest } from '../wire/status-errors.ts';

const TOKEN = /\s*(?:(!=|==|=|!|<|>|\(|\)|,)|([^\s!=<>(),]+))/y;

/**
 * `a=b,c in (d, e),!f,n>5`: the grammar of `kubectl -l`. Error messages are those of the API
 * server. Source of the rule: kubernetes/apimachinery, pkg/labels/selector.go (Parse).
 * @throws StatusError 400
 */
export function parseLabelSelector(text: string): readonly Requirement[] {
  const tokens = tokenize(text);
  const requirements: Requirement[] = [];
  let at = 0;
  const next = (): string => tokens[at++] ?? '';
  while (at < tokens.length) {
    requirements.push(parseRequirement(next, () => tokens[at] ?? ''));
    if (at >= tokens.length) break;
    const separator = next();
    if (separator !== ',') throw unexpected(separator, "',' or 'end of string'");
    if (at >= tokens.length) throw unexpected('', 'identifier after ,');
  }
  return requirements;
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const match = TOKEN.exec(text);
    if (match === null)
      throw badRequest(`unable to parse requirement: unexpected character in ${JSON.stringify(text)}`);
    tokens.push(match[1] ?? match[2] ?? '');
  }
  return tokens;
}

function parseRequirement(next: () => string, peek: () => string): Requirement {
  const first = next();
  if (first === '!') return { key: labelKey(next()), operator: 'DoesNotExist', values: [] };
  const key = labelKey(first);
  const operator = peek();
  if (operator === '' || operator === ',') return { key, operator: 'Exists', values: [] };
  next();
  switch (operator) {
    case '=':
    case '==':
      return { key, operator: 'In', values: [labelValue(key, singleValue(next, peek))] };
    case '!=':
      return { key, operator: 'NotIn', values: [labelValue(key, singleValue(next, peek))] };
    case '>':
    case '<':
      return {
        key,
        operator: operator === '>' ? 'Gt' : 'Lt',
        values: [integerText(singleValue(next, peek))],
      };
    case 'in':
    case 'notin':
      return {
        key,
        operator: operator === 'in' ? 'In' : 'NotIn',
        values: valueSet(next, peek).map((value) => labelValue(key, value)),
      };
    default:
      throw unexpected(operator, 'in, notin, =, ==, !=, gt, lt');
  }
}

function singleValue(next: () => string, peek: () => string): string {
  const token = peek();
  if (token === '' || token === ',') return '';
  if (/^[!=<>()]/.test(token)) throw unexpected(token, 'identifier');
  return next();
}

function valueSet(next: () => string, peek: () => string): string[] {
  const open = next();
  if (open !== '(') throw unexpected(open, "'('");
  const values: string[] = [];
  for (;;) {
    if (peek() === ')' || peek() === ',') values.push('');
    else values.push(singleValue(next, peek));
    const separator = next();
    if (separator === ')') return values;
    if (separator !== ',') throw unexpected(separator, "',' or ')'");
  }
}

function unexpected(found: string, expected: string): Error {
  return badRequest(`unable to parse requirement: found '${found}', expected: ${expected}`);
}

function labelKey(key: string): string {
  if (/^[!=<>(),]*$/.test(key)) throw unexpected(key, 'identifier');
  if (labelKeyProblem(key) === undefined) return key;
  throw badRequest(
    `unable to parse requirement: <nil>: Invalid value: ${JSON.stringify(key)}: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
  );
}

function labelValue(key: string, value: string): string {
  if (labelValueProblem(value) === undefined) return value;
  throw badRequest(
    `unable to parse requirement: values[0][${key}]: Invalid value: ${JSON.stringify(value)}: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
  );
}

function integerText(value: string): string {
  if (/^-?\d+$/.test(value)) return value;
  throw badRequest(
    `unable to parse requirement: values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
  );
}

export function matchesLabels(requirements: readonly Requirement[], object: JsonObject): boolean {
  if (requirements.length === 0) return true;
  const labels = (objectAt(objectAt(object, 'metadata'), 'labels') ?? {}) as LabelMap;
  return requirements.every((requirement) => matchesRequirement(requirement, labels));
}

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
