import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject, setOwn } from '../json/json-value.ts';
import type { MessageField } from './message-types.ts';
import { isScalar, messageFields } from './message-types.ts';
import { ProtoError, ProtoReader } from './proto-reader.ts';
import { LIST_MESSAGES, SPECIAL_MESSAGES } from './special-messages.ts';

const MAX_DEPTH = 100;

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
