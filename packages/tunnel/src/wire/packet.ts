import { InputError } from '@berth/runtime/errors';

/**
 * One message of the konnectivity protocol, in both directions of both services (proto3, apiserver-network-proxy 0.34.0,
 * `konnectivity-client/proto/client/client.proto`). `window` and `half-close` are Berth's: they are sent only to a peer that
 * said it knows them. Numbers are int64 there, and use all of its bits.
 */
export type Packet =
  | { readonly type: 'dial'; readonly random: bigint; readonly protocol: string; readonly address: string }
  | { readonly type: 'dialed'; readonly random: bigint; readonly connectId: bigint; readonly error: string }
  | { readonly type: 'data'; readonly connectId: bigint; readonly data: Buffer }
  | { readonly type: 'close'; readonly connectId: bigint }
  | { readonly type: 'closed'; readonly connectId: bigint; readonly error: string }
  | { readonly type: 'cancel-dial'; readonly random: bigint }
  | { readonly type: 'drain' }
  | { readonly type: 'window'; readonly connectId: bigint; readonly bytes: bigint }
  | { readonly type: 'half-close'; readonly connectId: bigint };

/** The value of the field `type`, and the number of the field with the body. */
interface PacketForm {
  readonly number: number;
  readonly body: number;
  /** Numbers of the fields in the body. */
  readonly fields: Readonly<Record<string, number>>;
}

const FORMS: { readonly [Type in Packet['type']]: PacketForm } = {
  dial: { number: 0, body: 2, fields: { protocol: 1, address: 2, random: 3 } },
  dialed: { number: 1, body: 3, fields: { error: 1, connectId: 2, random: 3 } },
  close: { number: 2, body: 5, fields: { connectId: 1 } },
  closed: { number: 3, body: 6, fields: { error: 1, connectId: 2 } },
  data: { number: 4, body: 4, fields: { connectId: 1, data: 3 } },
  'cancel-dial': { number: 5, body: 7, fields: { random: 1 } },
  drain: { number: 6, body: 8, fields: {} },
  window: { number: 100, body: 100, fields: { connectId: 1, bytes: 2 } },
  'half-close': { number: 101, body: 101, fields: { connectId: 1 } },
};
const TYPE_OF_NUMBER = new Map(Object.entries(FORMS).map(([type, form]) => [BigInt(form.number), type]));
const TEXTS: ReadonlySet<string> = new Set(['protocol', 'address', 'error']);

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const NO_BYTES = Buffer.alloc(0);

/**
 * The bytes of a packet after `before`, copied once. A field with the value of its type's zero is left out, as proto3 does.
 * @param before is given the length of the packet
 */
export function encodePacket(packet: Packet, before: (length: number) => Buffer = () => NO_BYTES): Buffer {
  const { number, body, fields } = FORMS[packet.type];
  const parts = Object.entries(fields).flatMap(([name, field]) =>
    encodeField(field, (packet as unknown as Readonly<Record<string, bigint | string | Buffer>>)[name] ?? ''),
  );
  const type = number === 0 ? [] : [tag(1, VARINT), encodeVarint(BigInt(number))];
  const whole = [...type, tag(body, BYTES), encodeVarint(BigInt(lengthOf(parts))), ...parts];
  return Buffer.concat([before(lengthOf(whole)), ...whole]);
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/**
 * @returns undefined for a packet of a type that is unknown, which is to be ignored
 * @throws InputError for bytes that are no packet
 */
export function parsePacket(bytes: Buffer): Packet | undefined {
  const outer = parseFields(bytes);
  const number = outer.get(1) ?? 0n;
  const type = TYPE_OF_NUMBER.get(number as bigint);
  if (type === undefined) {
    if (typeof number === 'bigint') return undefined;
    throw wrong('has a type that is no number');
  }
  const form = FORMS[type as Packet['type']];
  const body = outer.get(form.body) ?? NO_BYTES;
  if (typeof body === 'bigint') throw wrong(`has a number in the place of its ${type}`);
  const inner = parseFields(body);
  const packet: Record<string, unknown> = { type };
  for (const [name, field] of Object.entries(form.fields)) packet[name] = valueOf(name, inner.get(field));
  return packet as unknown as Packet;
}

function valueOf(name: string, value: bigint | Buffer | undefined): bigint | Buffer | string {
  if (TEXTS.has(name) || name === 'data') {
    const bytes = value ?? NO_BYTES;
    if (typeof bytes === 'bigint') throw wrong(`has a number in the place of ${name}`);
    return name === 'data' ? bytes : bytes.toString();
  }
  const number = value ?? 0n;
  if (typeof number !== 'bigint') throw wrong(`has text in the place of ${name}`);
  return BigInt.asIntN(64, number);
}

/** By number; of a field that is there twice the last one counts. Groups of proto2 are refused. */
function parseFields(bytes: Buffer): ReadonlyMap<number, bigint | Buffer> {
  const fields = new Map<number, bigint | Buffer>();
  let at = 0;
  while (at < bytes.length) {
    const key = readVarint(bytes, at);
    const field = Number(key.value >> 3n);
    const wire = Number(key.value & 7n);
    at = key.end;
    if (field === 0) throw wrong('has a field without a number');
    if (wire === VARINT) {
      const { value, end } = readVarint(bytes, at);
      fields.set(field, value);
      at = end;
    } else if (wire === BYTES || wire === FIXED32 || wire === FIXED64) {
      const length = wire === BYTES ? readVarint(bytes, at) : { value: wire === FIXED32 ? 4n : 8n, end: at };
      if (length.value > BigInt(bytes.length - length.end)) throw wrong('ends within a field');
      at = length.end + Number(length.value);
      if (wire === BYTES) fields.set(field, bytes.subarray(length.end, at));
    } else throw wrong(`has a field of the unknown form ${wire}`);
  }
  return fields;
}

/** At most ten bytes. Small numbers, which nearly all are, need no bigint until the end. */
function readVarint(bytes: Buffer, start: number): { readonly value: bigint; readonly end: number } {
  let low = 0;
  for (let at = start, shift = 0; shift < 28; at += 1, shift += 7) {
    const byte = bytes[at];
    if (byte === undefined) throw wrong('ends within a number');
    low |= (byte & 0x7f) << shift;
    if (byte < 0x80) return { value: BigInt(low), end: at + 1 };
  }
  let value = BigInt(low);
  for (let at = start + 4, shift = 28n; shift < 70n; at += 1, shift += 7n) {
    const byte = bytes[at];
    if (byte === undefined) throw wrong('ends within a number');
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: at + 1 };
  }
  throw wrong('has a number of more than ten bytes');
}

function encodeField(field: number, value: bigint | string | Buffer): Buffer[] {
  if (typeof value === 'bigint') return value === 0n ? [] : [tag(field, VARINT), encodeVarint(value)];
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return bytes.length === 0 ? [] : [tag(field, BYTES), encodeVarint(BigInt(bytes.length)), bytes];
}

function tag(field: number, wire: number): Buffer {
  return encodeVarint(BigInt((field << 3) | wire));
}

function encodeVarint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

function wrong(problem: string): InputError {
  return new InputError(problem, { code: 'tunnel.packet', subject: 'packet of the tunnel' });
}
