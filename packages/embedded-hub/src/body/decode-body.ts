import { isAscii, isUtf8 } from 'node:buffer';
import { kubectlSchema } from '@berth/kube/yaml/kubectl-schema';
import { resolvePlainScalar, UnrepresentableScalarError } from '@berth/kube/yaml/scalar';
import { errorText } from '@berth/runtime/errors';
import { load, YAMLException } from 'js-yaml';
import type { JsonValue } from '../json/json-value.ts';
import { chargeKeys, chargeWork, WorkExceededError, chargeText } from '../json/work-budget.ts';
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from '../proto/decode-protobuf.ts';
import { cutText } from '../wire/cut-text.ts';
import { badRequest, unknownBodyFormat, yamlTooLarge } from '../wire/status-errors.ts';
import { jsonShape, closingQuote } from './json-shape.ts';

/** Limits of a decoded body, independent of its size in bytes. */
const MAX_DEPTH = 1000;
const MAX_VALUES = 2_000_000;
/** A shorter JSON text cannot exceed the limits, and most bodies are short. */
const HARMLESS_LENGTH = MAX_DEPTH * 2;
/**
 * A key costs the parser several times as much as a value: keys are looked up, and large objects
 * become hash tables.
 */
const PARSE_STEPS_PER_KEY = 4;

const BYTE_ORDER_MARK = '\ufeff';

const JSON_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
]);
const YAML_TYPES: ReadonlySet<string> = new Set(['application/yaml', 'application/apply-patch+yaml']);
const ACCEPTED = ['application/json', 'application/yaml', PROTOBUF_MEDIA_TYPE];

/** YAML has a limit of its own, because reading it takes much longer than JSON. */
const MAX_YAML_CHARACTERS = 1_500_000;
const CHARACTERS_PER_STEP = 6;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** As many as the API server's decoder reports (sigs.k8s.io/json, saveStrictError). */
const MAX_REPORTED = 100;
/** Below a duplicate key the same path may be found many times. */
const MAX_FOUND = 1_000;
const MAX_KEY_LENGTH = 256;
const MAX_PATH_LENGTH = 1_024;
const FIELDS_CHARACTERS_PER_STEP = 16;

/** A decoded request body. */
export interface DecodedBody {
  readonly value: JsonValue;
  /** Faults that only `fieldValidation` Strict and Warn report, e.g. `duplicate field "spec.x"`. */
  readonly strictErrors: readonly string[];
}

/**
 * Reads a request body by its media type; parameters of the type do not matter. An absent type
 * means JSON.
 * @param expected the kind that errors name
 * @throws StatusError 400 for a body that cannot be read, 413 for YAML that is too long, 415 for an
 * unsupported type
 * @throws WorkExceededError for a body that takes more work than one request may use
 */
export function decodeBody(
  bytes: Uint8Array,
  contentType: string,
  expected?: { readonly kind: string },
): DecodedBody {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  if (type === PROTOBUF_MEDIA_TYPE) return { value: decodeProtobuf(bytes), strictErrors: [] };
  const isJson = type === '' || JSON_TYPES.has(type);
  if (!isJson && !YAML_TYPES.has(type)) throw unknownBodyFormat(ACCEPTED);
  const text = utf8(bytes);
  // Most "YAML" of clients is JSON; reading it as such is many times faster.
  const decoded = isJson || text.trimStart().startsWith('{') ? fromJson(text, isJson, expected) : undefined;
  if (decoded !== undefined) return decoded;
  const body = fromYaml(text);
  refuseOversized(body.value);
  return body;
}

function utf8(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Most bodies are ASCII, which is copied and not decoded.
  if (isAscii(bytes)) return buffer.toString('latin1');
  if (!isUtf8(bytes)) throw badRequest('the body of the request is not valid UTF-8');
  const text = buffer.toString('utf8');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** @returns undefined when the text is no JSON but may still be YAML */
function fromJson(
  text: string,
  mustBeJson: boolean,
  expected: { readonly kind: string } | undefined,
): DecodedBody | undefined {
  let value: JsonValue;
  if (text.length > HARMLESS_LENGTH) chargeJson(text);
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    if (!mustBeJson) return undefined;
    const kind = expected === undefined ? '' : ` (must be of type ${expected.kind})`;
    const why = `couldn't get version/kind; json parse error: ${errorText(error)}`;
    throw badRequest(`the object provided is unrecognized${kind}: ${why}`);
  }
  let found: readonly string[] | undefined;
  return {
    value,
    get strictErrors() {
      found ??= duplicateFields(text, value).map((field) => `duplicate field "${field}"`);
      return found;
    },
  };
}

/** Charges the work before the text is parsed, because the parser cannot be interrupted. */
function chargeJson(text: string): void {
  const { values, keys, depth } = jsonShape(text);
  if (depth > MAX_DEPTH) throw nestedTooDeep();
  chargeWork(values + keys * PARSE_STEPS_PER_KEY);
}

function fromYaml(text: string): DecodedBody {
  if (text.length > MAX_YAML_CHARACTERS) throw yamlTooLarge(MAX_YAML_CHARACTERS);
  try {
    const { value, duplicates } = readYaml(text);
    return { value, strictErrors: duplicates };
  } catch (error) {
    if (error instanceof WorkExceededError) throw error;
    throw badRequest(`error decoding YAML: ${errorText(error)}`);
  }
}

/**
 * Rejects YAML whose aliases expand to an enormous value, and nesting that could exhaust the stack.
 * @throws StatusError 400
 */
function refuseOversized(root: JsonValue): void {
  const remaining = { values: MAX_VALUES };
  if (isWithin(root, MAX_DEPTH, remaining)) return;
  if (remaining.values > 0) throw nestedTooDeep();
  throw badRequest(`the body of the request unfolds to more than ${String(MAX_VALUES)} values`);
}

function nestedTooDeep(): Error {
  return badRequest(`the body of the request is nested deeper than ${String(MAX_DEPTH)} levels`);
}

function isWithin(value: JsonValue, depth: number, remaining: { values: number }): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const below = Array.isArray(value) ? value : Object.values(value);
  remaining.values -= below.length;
  chargeKeys(below.length);
  if (remaining.values <= 0 || depth <= 0) return false;
  for (const one of below) if (!isWithin(one, depth - 1, remaining)) return false;
  return true;
}

interface Level {
  /** Undefined for lists. */
  readonly keys: Map<string, 'once' | 'again'> | undefined;
  index: number;
  key: string;
  expectsKey: boolean;
}

/**
 * Paths of duplicate keys in a JSON text, e.g. `spec.x` or `items[0].name`; the first hundred, each
 * cut to a length that fits into a message. It runs on every strictly validated write, and nearly
 * no text has duplicates. The parser keeps one of two equal keys, so a text with as many keys as
 * its value has no duplicates.
 * @param value what the text parses to
 */
export function duplicateFields(text: string, value: JsonValue): readonly string[] {
  chargeText(text.length, FIELDS_CHARACTERS_PER_STEP);
  return jsonShape(text).keys === countKeys(value) ? [] : findDuplicates(text);
}

function countKeys(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) for (const item of value) keys += countKeys(item);
  else for (const key in value) keys += 1 + countKeys(value[key] as JsonValue);
  return keys;
}

function findDuplicates(text: string): readonly string[] {
  const found = new Set<string>();
  let findings = 0;
  const stack: Level[] = [];
  let level: Level | undefined;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = closingQuote(text, at);
        if (level?.expectsKey === true && recordKey(level, keyBetween(text, at, end))) {
          found.add(pathOf(stack));
          findings += 1;
          if (found.size >= MAX_REPORTED || findings >= MAX_FOUND) return [...found];
        }
        at = end;
        break;
      }
      case OPEN_OBJECT:
        level = { keys: new Map(), index: 0, key: '', expectsKey: true };
        stack.push(level);
        break;
      case OPEN_LIST:
        level = { keys: undefined, index: 0, key: '', expectsKey: false };
        stack.push(level);
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        stack.pop();
        level = stack[stack.length - 1];
        break;
      case COMMA:
        if (level !== undefined) {
          level.index += 1;
          level.expectsKey = level.keys !== undefined;
        }
        break;
      default:
    }
  }
  return [...found];
}

/** @returns whether this is the second key with its name; further ones are not reported */
function recordKey(level: Level, key: string): boolean {
  level.key = key;
  level.expectsKey = false;
  const known = level.keys?.get(key);
  if (known === 'again') return false;
  level.keys?.set(key, known === undefined ? 'once' : 'again');
  return known === 'once';
}

function keyBetween(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

function pathOf(stack: readonly Level[]): string {
  let path = '';
  for (const level of stack) {
    const key = cutText(level.key, MAX_KEY_LENGTH);
    if (level.keys === undefined) path += `[${String(level.index)}]`;
    else path += path === '' ? key : `.${key}`;
    if (path.length > MAX_PATH_LENGTH) return cutText(path, MAX_PATH_LENGTH);
  }
  return path;
}

const SCHEMA = kubectlSchema(scalarOf);

/** An integer that JavaScript cannot hold loses digits, as it does in a JSON body: `kubectl apply --server-side` sends JSON as YAML. */
function scalarOf(text: string): unknown {
  try {
    return resolvePlainScalar(text);
  } catch (error) {
    if (error instanceof UnrepresentableScalarError && Number.isFinite(error.nearest)) return error.nearest;
    throw error;
  }
}

/** The reader calls at the beginning and at the end of every node. */
const charge = (): void => chargeWork(1);

interface YamlReading {
  readonly value: JsonValue;
  readonly duplicates: readonly string[];
}

/**
 * One YAML document as JSON. Later duplicates win and are reported.
 * @throws YAMLException on anything that is no YAML
 * @throws UnrepresentableScalarError on infinities and what is no number, which JSON does not have
 * @throws WorkExceededError when reading it takes more than one request may use
 */
function readYaml(text: string): YamlReading {
  chargeText(text.length, CHARACTERS_PER_STEP);
  try {
    return { value: asJson(load(text, { schema: SCHEMA, listener: charge })), duplicates: [] };
  } catch (error) {
    if (!(error instanceof YAMLException) || error.reason !== 'duplicated mapping key') throw error;
    const value = asJson(load(text, { schema: SCHEMA, json: true, listener: charge }));
    return { value, duplicates: [`duplicate key at line ${String(error.mark.line + 1)}`] };
  }
}

/** An empty document is null. */
function asJson(value: unknown): JsonValue {
  return value === undefined ? null : (value as JsonValue);
}
