import { isUtf8 } from 'node:buffer';
import { errorText } from '../../core/errors.ts';
import type { JsonValue } from '../json/json-value.ts';
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from '../proto/decode-protobuf.ts';
import { badRequest, unknownBodyFormat } from '../status/status-errors.ts';
import type { DecodedBody } from '../write/write-request.ts';
import { duplicateFields } from './duplicate-fields.ts';
import { readYaml } from './read-yaml.ts';

/** Bounds on what a body may unfold to, whatever its size in bytes. */
const MAX_DEPTH = 1000;
const MAX_VALUES = 2_000_000;

const BYTE_ORDER_MARK = '\ufeff';

const JSON_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
]);
const YAML_TYPES: ReadonlySet<string> = new Set(['application/yaml', 'application/apply-patch+yaml']);
const ACCEPTED = ['application/json', 'application/yaml', PROTOBUF_MEDIA_TYPE];

/**
 * Reads a request body by its media type; parameters of the type do not matter. An absent type means JSON.
 * @param expect kind named in errors
 * Throws 400 for a body that cannot be read and 415 for a type nobody reads.
 */
export function decodeBody(
  bytes: Uint8Array,
  contentType: string,
  expect?: { readonly kind: string },
): DecodedBody {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  if (type === PROTOBUF_MEDIA_TYPE) return { value: decodeProtobuf(bytes), strictErrors: [] };
  const json = type === '' || JSON_TYPES.has(type);
  if (!json && !YAML_TYPES.has(type)) throw unknownBodyFormat(ACCEPTED);
  const text = utf8(bytes);
  // Most "YAML" of clients is JSON; reading it as such is many times faster.
  const decoded = json || text.trimStart().startsWith('{') ? fromJson(text, json, expect) : undefined;
  const body = decoded ?? fromYaml(text);
  // JSON has no aliases: a short text is neither deep nor wide, and most bodies are short.
  if (decoded === undefined || text.length > MAX_DEPTH * 2) refuseUnfolded(body.value);
  return body;
}

function utf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw badRequest('the body of the request is not valid UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** @returns undefined when the text is no JSON but may still be YAML */
function fromJson(
  text: string,
  onlyJson: boolean,
  expect: { readonly kind: string } | undefined,
): DecodedBody | undefined {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    if (!onlyJson) return undefined;
    const kind = expect === undefined ? '' : ` (must be of type ${expect.kind})`;
    const why = `couldn't get version/kind; json parse error: ${errorText(error)}`;
    throw badRequest(`the object provided is unrecognized${kind}: ${why}`);
  }
  let found: readonly string[] | undefined;
  return {
    value,
    get strictErrors() {
      found ??= duplicateFields(text).map((field) => `duplicate field "${field}"`);
      return found;
    },
  };
}

function fromYaml(text: string): DecodedBody {
  try {
    const { value, duplicates } = readYaml(text);
    return { value, strictErrors: duplicates };
  } catch (error) {
    throw badRequest(`error decoding YAML: ${errorText(error)}`);
  }
}

/** Aliases can make a small text unfold to an enormous value, and nesting can exhaust the stack: both are refused. */
function refuseUnfolded(root: JsonValue): void {
  const room = { values: MAX_VALUES };
  if (fits(root, MAX_DEPTH, room)) return;
  throw badRequest(
    room.values <= 0
      ? `the body of the request unfolds to more than ${String(MAX_VALUES)} values`
      : `the body of the request is nested deeper than ${String(MAX_DEPTH)} levels`,
  );
}

function fits(value: JsonValue, depth: number, room: { values: number }): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const below = Array.isArray(value) ? value : Object.values(value);
  room.values -= below.length;
  if (room.values <= 0 || depth <= 0) return false;
  for (const one of below) if (!fits(one, depth - 1, room)) return false;
  return true;
}
