import type { JsonObject } from '../json/json-value.ts';
import { isObject } from '../json/json-value.ts';
import { BUILTIN_RESOURCES, SUBRESOURCE_KINDS } from '../scheme/builtin/builtin-resources.ts';
import { badRequest } from '../wire/status-errors.ts';
import { decodeMessage } from './decode-message.ts';
import { ProtoError, ProtoReader } from './proto-reader.ts';

export const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf';

/** Every protobuf body begins with these four bytes. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];
const DELETE_OPTIONS = 'machinery:apis.meta.v1.DeleteOptions';

const messageOf = new Map<string, string>();
for (const row of [...BUILTIN_RESOURCES, ...SUBRESOURCE_KINDS]) {
  const group = row.group === '' ? '' : `${row.group}/`;
  const versions = [row, ...('alsoServed' in row ? (row.alsoServed ?? []) : [])];
  for (const { version, schema } of versions) messageOf.set(`${group}${version} ${row.kind}`, schema);
}

/** A `k8s\0` envelope and the object in it, as JSON with apiVersion and kind. Throws 400 for anything else. */
export function decodeProtobuf(bytes: Uint8Array): JsonObject {
  if (!MAGIC.every((byte, index) => bytes[index] === byte)) {
    throw badRequest('provided data does not appear to be a protobuf message, expected prefix 6b 38 73 00');
  }
  try {
    return decodeEnvelope(bytes.subarray(MAGIC.length));
  } catch (error) {
    if (!(error instanceof ProtoError)) throw error;
    throw badRequest(`the protobuf body of the request cannot be decoded: ${error.message}`);
  }
}

/** runtime.Unknown: typeMeta (1) says what is in raw (2). */
function decodeEnvelope(bytes: Uint8Array): JsonObject {
  const reader = new ProtoReader(bytes);
  let typeMeta = { apiVersion: '', kind: '' };
  let raw: Uint8Array = new Uint8Array();
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (field === 1 && wire === 2) typeMeta = decodeTypeMeta(reader.bytes());
    else if (field === 2 && wire === 2) raw = reader.bytes();
    else reader.skip(wire);
  }
  const { apiVersion, kind } = typeMeta;
  // DeleteOptions exist in every group and version.
  const message = kind === 'DeleteOptions' ? DELETE_OPTIONS : messageOf.get(`${apiVersion} ${kind}`);
  if (message === undefined)
    throw new ProtoError(`no kind "${kind}" is registered for version "${apiVersion}"`);
  const object = decodeMessage(message, raw);
  if (!isObject(object)) throw new ProtoError('not an object');
  return { apiVersion, kind, ...object };
}

function decodeTypeMeta(bytes: Uint8Array): { readonly apiVersion: string; readonly kind: string } {
  const reader = new ProtoReader(bytes);
  const texts = ['', ''];
  while (!reader.done) {
    const { field, wire } = reader.tag();
    if (wire === 2 && (field === 1 || field === 2))
      texts[field - 1] = Buffer.from(reader.bytes()).toString('utf8');
    else reader.skip(wire);
  }
  return { apiVersion: texts[0] as string, kind: texts[1] as string };
}
