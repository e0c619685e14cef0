import { utf8LengthBytes } from '@berth/runtime/text/utf8';
import { deepEqual, getOwn, type JsonObject, type JsonValue, objectAt, textAt } from '../json/json-value.ts';
import { configKey, type FieldReporter, type KindRules } from './values/field-reporter.ts';

const LIMIT_BYTES = 1024 * 1024;

/** Source: pkg/apis/core/validation (ValidateConfigMap, ValidateConfigMapUpdate). */
export const CONFIG_MAP_RULES: KindRules = {
  metadataChecks: 4,
  validate: (map, at, old) => {
    checkFixed(map, old, ['data', 'binaryData'], at);
    const [data, binary] = [objectAt(map, 'data') ?? {}, objectAt(map, 'binaryData') ?? {}];
    for (const key of Object.keys(data)) {
      const place = at.at('data').entry(key);
      place.validName(key, configKey);
      if (Object.hasOwn(binary, key)) place.invalid(key, 'duplicate of key present in binaryData');
    }
    for (const key of Object.keys(binary)) at.at('binaryData').entry(key).validName(key, configKey);
    if (textBytes(data) + base64Bytes(binary) > LIMIT_BYTES) at.entry('').tooLong(LIMIT_BYTES);
  },
};

/** Source: pkg/apis/core/validation (ValidateSecret, ValidateSecretUpdate). */
export const SECRET_RULES: KindRules = {
  metadataChecks: 4,
  validate: (secret, at, old) => {
    if (old !== undefined) at.at('type').immutable(textAt(secret, 'type'), textAt(old, 'type'));
    checkFixed(secret, old, ['data'], at);
    const data = objectAt(secret, 'data') ?? {};
    for (const key of Object.keys(data)) at.at('data').entry(key).validName(key, configKey);
    if (base64Bytes(data) > LIMIT_BYTES) at.at('data').tooLong(LIMIT_BYTES);
    const type = textAt(secret, 'type');
    if (Object.hasOwn(TYPES, type)) TYPES[type]?.(data, at.at('data'), secret);
  },
};

type DataCheck = (data: JsonObject, at: FieldReporter, secret: JsonObject) => void;

const ACCOUNT_ANNOTATION = 'kubernetes.io/service-account.name';

/** The keys that a Secret of each type must have. */
const TYPES: Readonly<Record<string, DataCheck>> = {
  'kubernetes.io/service-account-token': (_data, at, secret) => {
    const annotations = objectAt(objectAt(secret, 'metadata'), 'annotations');
    if (textAt(annotations, ACCOUNT_ANNOTATION) !== '') return;
    at.root().at('metadata').at('annotations').entry(ACCOUNT_ANNOTATION).required();
  },
  'kubernetes.io/dockercfg': (data, at) => checkJson(data, '.dockercfg', at),
  'kubernetes.io/dockerconfigjson': (data, at) => checkJson(data, '.dockerconfigjson', at),
  'kubernetes.io/basic-auth': (data, at) => {
    if (Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password')) return;
    at.entry('username').required();
    at.entry('password').required();
  },
  'kubernetes.io/ssh-auth': (data, at) => {
    if (textAt(data, 'ssh-privatekey') === '') at.entry('ssh-privatekey').required();
  },
  'kubernetes.io/tls': (data, at) => {
    for (const key of ['tls.crt', 'tls.key']) if (!Object.hasOwn(data, key)) at.entry(key).required();
  },
};

function checkJson(data: JsonObject, key: string, at: FieldReporter): void {
  const value = getOwn(data, key);
  if (value === undefined) {
    at.entry(key).required();
    return;
  }
  const problem = jsonObjectProblem(Buffer.from(String(value as string), 'base64').toString('utf8'));
  if (problem !== undefined) at.entry(key).invalid('<secret contents redacted>', problem);
}

/**
 * Why a text is not a JSON object. The message repeats nothing of the text, which may be secret.
 */
function jsonObjectProblem(text: string): string | undefined {
  if (text.trim() === '') return 'unexpected end of JSON input';
  try {
    const value: unknown = JSON.parse(text);
    const isMap = typeof value === 'object' && !Array.isArray(value);
    return isMap ? undefined : `json: cannot unmarshal ${jsonType(value)} into ${TYPE_TEXT}`;
  } catch {
    return `invalid character '${text.trim().charAt(0)}' looking for beginning of value`;
  }
}

const TYPE_TEXT = 'Go value of type map[string]interface {}';

function jsonType(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
}

/** An immutable object stays immutable, and its data cannot change. */
function checkFixed(
  object: JsonObject,
  old: JsonObject | undefined,
  fields: readonly string[],
  at: FieldReporter,
): void {
  if (old?.['immutable'] !== true) return;
  const detail = 'field is immutable when `immutable` is set';
  if (object['immutable'] !== true) at.at('immutable').forbidden(detail);
  for (const field of fields)
    if (!deepEqual(getOwn(object, field), getOwn(old, field))) at.at(field).forbidden(detail);
}

function textBytes(data: JsonObject): number {
  return Object.values(data).reduce((sum: number, text) => sum + utf8LengthBytes(asText(text)), 0);
}

function base64Bytes(data: JsonObject): number {
  return Object.values(data).reduce((sum: number, text) => {
    const letters = asText(text);
    const padding = letters.endsWith('==') ? 2 : letters.endsWith('=') ? 1 : 0;
    return sum + Math.floor((letters.length * 3) / 4) - padding;
  }, 0);
}

/** The schema has already rejected values of another type. */
function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : '';
}
