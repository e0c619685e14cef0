import { isAscii, isUtf8 } from 'node:buffer';
import {
  kubectlSchema,
  resolvePlainScalar,
  UnrepresentableScalarError,
} from '@berth/kube/yaml/kubectl-schema';
import { errorText } from '@berth/runtime/errors';
import { load, YAMLException } from 'js-yaml';
import type { JsonValue } from '../json/json-value.ts';
import { chargeKeys, chargeWork, WorkExceededError, chargeText } from '../json/work-budget.ts';
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from '../proto/decode-protobuf.ts';
import { badRequest, unknownBodyFormat, yamlTooLarge } from '../wire/status-errors.ts';
import { duplicateFields, jsonShape } from './json-shape.ts';

const JSON_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
]);
const YAML_TYPES: ReadonlySet<string> = new Set(['application/yaml', 'application/apply-patch+yaml']);
const ACCEPTED = ['application/json', 'application/yaml', PROTOBUF_MEDIA_TYPE];

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

const BYTE_ORDER_MARK = '\ufeff';

function utf8(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Most bodies are ASCII, which is copied and not decoded.
  if (isAscii(bytes)) return buffer.toString('latin1');
  if (!isUtf8(bytes)) throw badRequest('the body of the request is not valid UTF-8');
  const text = buffer.toString('utf8');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** Limits of a decoded body, independent of its size in bytes. */
const MAX_DEPTH = 1000;
/** A shorter JSON text cannot exceed the limits, and most bodies are short. */
const HARMLESS_LENGTH = MAX_DEPTH * 2;

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

/**
 * A key costs the parser several times as much as a value: keys are looked up, and large objects
 * become hash tables.
 */
const PARSE_STEPS_PER_KEY = 4;

/** Charges the work before the text is parsed, because the parser cannot be interrupted. */
function chargeJson(text: string): void {
  const { values, keys, depth } = jsonShape(text);
  if (depth > MAX_DEPTH) throw nestedTooDeep();
  chargeWork(values + keys * PARSE_STEPS_PER_KEY);
}

/** YAML has a limit of its own, because reading it takes much longer than JSON. */
const MAX_YAML_CHARACTERS = 1_500_000;

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

const MAX_VALUES = 2_000_000;

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

const YAML_CHARACTERS_PER_STEP = 6;

/**
 * One YAML document as JSON. Later duplicates win and are reported.
 * @throws YAMLException on anything that is no YAML
 * @throws UnrepresentableScalarError on infinities and what is no number, which JSON does not have
 * @throws WorkExceededError when reading it takes more than one request may use
 */
function readYaml(text: string): YamlReading {
  chargeText(text.length, YAML_CHARACTERS_PER_STEP);
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
