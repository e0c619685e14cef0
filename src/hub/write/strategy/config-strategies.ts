import { forbiddenField, IMMUTABLE, invalidValue, required } from '../../admit/field-problems.ts';
import { matchesStringFormat } from '../../admit/value-format.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { deepEqual, getOwn, objectAt, setOwn, textAt } from '../../json/json-value.ts';
import type { FieldProblem } from '../../status/status-errors.ts';
import { badRequest } from '../../status/status-errors.ts';
import type { Strategy } from './strategy.ts';

const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const SIZE_LIMIT_BYTES = 1024 * 1024;

/** What certain types of Secrets must hold. */
const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
};

export const CONFIG_MAP_STRATEGY: Strategy = {
  validate: (object, old) => [...keyProblems(object, ['data', 'binaryData']), ...immutability(object, old)],
};

export const SECRET_STRATEGY: Strategy = {
  fillIn: (object) => withEncodedData(object.type === undefined ? { ...object, type: 'Opaque' } : object),
  validate: (object, old) => {
    const problems = [...keyProblems(object, ['data']), ...immutability(object, old)];
    const type = textAt(object, 'type');
    if (old !== undefined && textAt(old, 'type') !== type)
      problems.push(invalidValue('type', type, IMMUTABLE));
    for (const key of REQUIRED_KEYS[type] ?? []) {
      if (!Object.hasOwn(objectAt(object, 'data') ?? {}, key)) problems.push(required(`data[${key}]`));
    }
    return problems;
  },
};

/** `stringData` is write-only: it goes into `data`. */
function withEncodedData(object: JsonObject): JsonObject {
  const data: JsonObject = { ...objectAt(object, 'data') };
  for (const value of Object.values(data)) {
    if (typeof value === 'string' && !matchesStringFormat('byte', value)) {
      throw badRequest('Secret in version "v1" cannot be handled as a Secret: illegal base64 data in data');
    }
  }
  const plain = objectAt(object, 'stringData');
  if (plain === undefined) return object;
  for (const [key, value] of Object.entries(plain))
    setOwn(data, key, Buffer.from(String(value as string), 'utf8').toString('base64'));
  const result: JsonObject = { ...object, data };
  delete result['stringData'];
  return result;
}

function keyProblems(object: JsonObject, fields: readonly string[]): FieldProblem[] {
  const problems: FieldProblem[] = [];
  let size = 0;
  for (const field of fields) {
    for (const [key, value] of Object.entries(objectAt(object, field) ?? {})) {
      size += key.length + (typeof value === 'string' ? value.length : 0);
      if (!KEY.test(key) || key.length > 253 || key === '.' || key === '..') {
        problems.push(invalidValue(`${field}[${key}]`, key, KEY_TEXT));
      }
    }
  }
  // Texts are counted as they stand: base64 makes a Secret's limit a third smaller than its raw bytes.
  if (size > SIZE_LIMIT_BYTES * 1.4) {
    const message = `Too long: may not be more than ${String(SIZE_LIMIT_BYTES)} bytes`;
    problems.push({ field: '', reason: 'FieldValueTooLong', message });
  }
  return problems;
}

function immutability(object: JsonObject, old: JsonObject | undefined): FieldProblem[] {
  if (old?.['immutable'] !== true) return [];
  const detail = 'field is immutable when `immutable` is set';
  const problems: FieldProblem[] = [];
  if (object['immutable'] !== true) problems.push(forbiddenField('immutable', detail));
  for (const field of ['data', 'binaryData']) {
    if (!deepEqual(getOwn(object, field), getOwn(old, field))) problems.push(forbiddenField(field, detail));
  }
  return problems;
}
