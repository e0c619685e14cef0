import { type JsonObject, isObject, type JsonValue, getOwn, setOwn } from '../json/json-value.ts';
import { typedForm } from '../schema/typed-form.ts';
import { BUILTIN_RESOURCES, SUBRESOURCE_KINDS } from '../scheme/builtin/builtin-resources.ts';
import { builtinSchema } from '../scheme/builtin/builtin-schemas.ts';
import { badRequest } from '../wire/status-errors.ts';
import data from './kubernetes-messages.json' with { type: 'json' };

export const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf';

/** Every protobuf body begins with these four bytes. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];

const messageOfKind = new Map<string, string>();

for (const row of [...BUILTIN_RESOURCES, ...SUBRESOURCE_KINDS]) {
  const group = row.group === '' ? '' : `${row.group}/`;
  const versions = [row, ...('alsoServed' in row ? (row.alsoServed ?? []) : [])];
  for (const { version, schema } of versions) messageOfKind.set(`${group}${version} ${row.kind}`, schema);
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

const DELETE_OPTIONS = 'machinery:apis.meta.v1.DeleteOptions';

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
  const message = kind === 'DeleteOptions' ? DELETE_OPTIONS : messageOfKind.get(`${apiVersion} ${kind}`);
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

const MAX_DEPTH = 100;
/** Messages that are written as the list in their only field: map values cannot be lists in protobuf. */
const LIST_MESSAGES: ReadonlySet<string> = new Set([
  'authentication.v1.ExtraValue',
  'authorization.v1.ExtraValue',
  'certificates.v1.ExtraValue',
]);

/**
 * One message as the JSON that the same client would send. Empty strings and zero times of single
 * fields are omitted, unless the Go field is a pointer.
 */
export function decodeMessage(name: string, bytes: Uint8Array, depth = 0): JsonValue {
  const fields = messageFields(name);
  if (fields === undefined) throw new ProtoError(`no message ${name}`);
  if (depth > MAX_DEPTH) throw new ProtoError('nested too deeply');
  const object: JsonObject = {};
  const reader = new ProtoReader(bytes);
  while (!reader.done) {
    const { field, wire } = reader.tag();
    const known = fields.get(field);
    if (known === undefined) reader.skip(wire);
    else readField(object, known, { reader, wire, depth });
  }
  if (LIST_MESSAGES.has(name)) return getOwn(object, 'items') ?? [];
  return Object.hasOwn(SPECIAL_MESSAGES, name) ? (SPECIAL_MESSAGES[name]?.(object) ?? null) : object;
}

interface Source {
  readonly reader: ProtoReader;
  readonly wire: number;
  readonly depth: number;
}

function readField(object: JsonObject, field: MessageField, source: Source): void {
  if (field.map) {
    const entries = objectIn(object, field.name);
    const [key, value] = readEntry(field.type, source);
    setOwn(entries, key, value);
    return;
  }
  if (field.repeated && isScalar(field.type) && source.wire === 2 && !isDelimited(field.type)) {
    const packed = new ProtoReader(source.reader.bytes());
    while (!packed.done) listIn(object, field.name).push(readScalar(field.type, packed));
    return;
  }
  const value = readValue(field.type, source);
  if (field.repeated) listIn(object, field.name).push(value);
  else if (field.inline) {
    if (isObject(value)) for (const key of Object.keys(value)) setOwn(object, key, value[key] as JsonValue);
  } else if (field.pointer || (value !== '' && value !== null)) setOwn(object, field.name, value);
}

function isDelimited(type: string): boolean {
  return type === 'string' || type === 'bytes';
}

function readValue(type: string, { reader, wire, depth }: Source): JsonValue {
  if (!isScalar(type)) {
    if (wire !== 2) throw new ProtoError('a message is length-delimited');
    return decodeMessage(type, reader.bytes(), depth + 1);
  }
  const wanted = isDelimited(type) ? 2 : type === 'double' ? 1 : 0;
  if (wire !== wanted) throw new ProtoError(`wire type ${String(wire)} for ${type}`);
  return readScalar(type, reader);
}

function readScalar(type: string, reader: ProtoReader): JsonValue {
  switch (type) {
    case 'string':
      return utf8(reader.bytes());
    case 'bytes':
      return Buffer.from(reader.bytes()).toString('base64');
    case 'bool':
      return reader.varint() !== 0n;
    case 'double':
      return reader.double();
    default:
      return reader.integer();
  }
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ProtoError('text is not UTF-8');
  }
}

/** A map entry is a message of key (1) and value (2). */
function readEntry(type: string, source: Source): readonly [string, JsonValue] {
  if (source.wire !== 2) throw new ProtoError('a map entry is length-delimited');
  const entry = new ProtoReader(source.reader.bytes());
  let key = '';
  let value: JsonValue = emptyOf(type);
  while (!entry.done) {
    const { field, wire } = entry.tag();
    if (field === 1 && wire === 2) key = utf8(entry.bytes());
    else if (field === 2) value = readValue(type, { reader: entry, wire, depth: source.depth });
    else entry.skip(wire);
  }
  return [key, value];
}

function emptyOf(type: string): JsonValue {
  if (isDelimited(type)) return '';
  if (type === 'bool') return false;
  return isScalar(type) ? 0 : decodeMessage(type, new Uint8Array());
}

function objectIn(object: JsonObject, key: string): JsonObject {
  const known = getOwn(object, key);
  if (isObject(known)) return known;
  const created: JsonObject = {};
  setOwn(object, key, created);
  return created;
}

function listIn(object: JsonObject, key: string): JsonValue[] {
  const known = getOwn(object, key);
  if (Array.isArray(known)) return known;
  const created: JsonValue[] = [];
  setOwn(object, key, created);
  return created;
}

interface MessageField {
  readonly name: string;
  readonly type: string;
  readonly repeated: boolean;
  readonly map: boolean;
  /** The message's fields belong to the parent. */
  readonly inline: boolean;
  /** The Go field is a pointer: a present value is kept even if it is empty. */
  readonly pointer: boolean;
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'bytes', 'bool', 'int32', 'int64', 'double']);

function isScalar(type: string): boolean {
  return SCALARS.has(type);
}

/*
 * kubernetes-messages.json is written by scripts/kubernetes-facts.mjs. Per message: field number -> `name type`.
 *   type   string bytes bool int32 int64 double | []T repeated | {}T map with string keys | name of another message
 *          `*` before it where Go holds a pointer: an empty value is not nothing
 *   name   `*` where the fields of the message are in the parent's JSON object
 */
const MESSAGES = data as Readonly<Record<string, Readonly<Record<string, string>>>>;
const fieldsOfMessages = new Map<string, ReadonlyMap<number, MessageField>>();

/** Fields of a message by number; undefined when there is no such message. */
export function messageFields(name: string): ReadonlyMap<number, MessageField> | undefined {
  const known = fieldsOfMessages.get(name);
  if (known !== undefined) return known;
  if (!Object.hasOwn(MESSAGES, name)) return undefined;
  const fields = new Map<number, MessageField>();
  for (const [number, text] of Object.entries(MESSAGES[name] ?? {})) {
    const [field = '', goType = ''] = text.split(' ');
    const pointer = goType.startsWith('*');
    const type = pointer ? goType.slice(1) : goType;
    const repeated = type.startsWith('[]');
    const map = type.startsWith('{}');
    fields.set(Number(number), {
      name: field,
      type: repeated || map ? type.slice(2) : type,
      repeated,
      map,
      inline: field === '*',
      pointer,
    });
  }
  fieldsOfMessages.set(name, fields);
  return fields;
}

/**
 * Messages whose JSON is not an object of their fields. Each entry converts the decoded fields to
 * JSON.
 */
const SPECIAL_MESSAGES: Readonly<Record<string, (fields: JsonObject) => JsonValue>> = {
  'machinery:apis.meta.v1.Time': (fields) => timeText(fields, false),
  'machinery:apis.meta.v1.MicroTime': (fields) => timeText(fields, true),
  'machinery:apis.meta.v1.Duration': (fields) => `${String(numberIn(fields, 'duration') / 1e9)}s`,
  'machinery:api.resource.Quantity': (fields) => fields['string'] ?? '0',
  'machinery:util.intstr.IntOrString': (fields) =>
    numberIn(fields, 'type') === 1 ? (fields['strVal'] ?? '') : numberIn(fields, 'intVal'),
  'machinery:runtime.RawExtension': (fields) => rawJson(fields['raw']),
  'machinery:apis.meta.v1.FieldsV1': (fields) => rawJson(fields['Raw']),
  'extensions:apiextensions.v1.JSON': (fields) => rawJson(fields['raw']),
  'extensions:apiextensions.v1.JSONSchemaPropsOrBool': (fields) =>
    schemaIn(fields) ?? fields['allows'] === true,
  'extensions:apiextensions.v1.JSONSchemaPropsOrArray': (fields) =>
    schemaIn(fields) ?? fields['jSONSchemas'] ?? [],
  'extensions:apiextensions.v1.JSONSchemaPropsOrStringArray': (fields) =>
    schemaIn(fields) ?? fields['property'] ?? [],
};

/**
 * The schema in a union with other types. Its value is not processed later, so it is converted
 * here.
 */
function schemaIn(fields: JsonObject): JsonObject | undefined {
  const schema = fields['schema'];
  return isObject(schema)
    ? typedForm(builtinSchema('extensions:apiextensions.v1.JSONSchemaProps'), schema)
    : undefined;
}

function numberIn(fields: JsonObject, key: string): number {
  const value = fields[key];
  return typeof value === 'number' ? value : 0;
}

/** The zero time is absent in JSON. */
function timeText(fields: JsonObject, micro: boolean): JsonValue {
  if (Object.keys(fields).length === 0) return null;
  const seconds = numberIn(fields, 'seconds');
  if (Math.abs(seconds) > 8.64e12) throw new ProtoError('time out of range');
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  if (!micro) return `${text}Z`;
  const micros = Math.floor(numberIn(fields, 'nanos') / 1000);
  return `${text}.${String(micros).padStart(6, '0')}Z`;
}

/** Bytes that hold JSON; they were decoded to base64 like any other bytes. */
function rawJson(value: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string' || value === '') return null;
  const text = Buffer.from(value, 'base64').toString('utf8');
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new ProtoError('embedded JSON does not parse');
  }
}

/** A body that is no valid protobuf. Caught where the request is decoded. */
class ProtoError extends Error {}

/** Reads the wire format: varints, fixed-width numbers, length-delimited parts. Never reads past its end. */
export class ProtoReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Number of the next field and how its value is written. */
  tag(): { readonly field: number; readonly wire: number } {
    const value = Number(this.varint());
    const field = Math.floor(value / 8);
    if (field < 1) throw new ProtoError('field number 0');
    return { field, wire: value % 8 };
  }

  /** Up to 64 bits, unsigned. */
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtoError('varint longer than ten bytes');
  }

  /** A 64-bit two's complement number. int32 is written in the same form. */
  integer(): number {
    return Number(BigInt.asIntN(64, this.varint()));
  }

  double(): number {
    const part = this.#take(8);
    return new DataView(part.buffer, part.byteOffset, 8).getFloat64(0, true);
  }

  bytes(): Uint8Array {
    const length = Number(this.varint());
    return this.#take(length);
  }

  /** Skips an unknown value. */
  skip(wire: number): void {
    if (wire === 0) this.varint();
    else if (wire === 1) this.#take(8);
    else if (wire === 2) this.bytes();
    else if (wire === 5) this.#take(4);
    else throw new ProtoError(`wire type ${String(wire)}`);
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new ProtoError('unexpected end');
    this.#at += 1;
    return byte;
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new ProtoError('unexpected end');
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }
}
