/** One element of a DER encoding. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** Header and content. */
  readonly whole: Buffer;
}

export const DER_TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** `[0]`, constructed: the version of a certificate, the attributes of a request. */
  context0: 0xa0,
  /** `[3]`, constructed: the extensions of a certificate. */
  context3: 0xa3,
} as const;

const MAX_LENGTH_BYTES = 4;

/**
 * Parses a sequence of elements; undefined if the bytes contain anything else. Reads one level and
 * only DER (X.690, section 10): no indefinite lengths, no longer lengths than needed, no bytes
 * after the last element. So the bytes mean the same to every reader, however lenient.
 */
export function readDer(bytes: Buffer): readonly DerElement[] | undefined {
  const elements: DerElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const header = readHeader(bytes, at);
    if (header === undefined || header.end > bytes.length) return undefined;
    const { tag, start, end } = header;
    elements.push({ tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) });
    at = end;
  }
  return elements;
}

/**
 * The children of the single element that the bytes must be; undefined if they are something else.
 */
export function readNested(bytes: Buffer, tag: number): readonly DerElement[] | undefined {
  const [only, ...others] = readDer(bytes) ?? [];
  return only?.tag === tag && others.length === 0 ? readDer(only.content) : undefined;
}

interface Header {
  readonly tag: number;
  readonly start: number;
  readonly end: number;
}

function readHeader(bytes: Buffer, at: number): Header | undefined {
  const tag = bytes[at] as number;
  const first = bytes[at + 1];
  // Tag numbers from 31 on take several bytes; no field that is read here has one.
  if (first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  if (first < 0x80) return { tag, start: at + 2, end: at + 2 + first };
  const count = first - 0x80;
  const start = at + 2 + count;
  if (count === 0 || count > MAX_LENGTH_BYTES || start > bytes.length) return undefined;
  const length = bytes.readUIntBE(at + 2, count);
  const shortest = length >= 0x80 && length >= 2 ** (8 * (count - 1));
  return shortest ? { tag, start, end: start + length } : undefined;
}

/** One element of the tag with the parts as its content. */
export function writeDer(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const hex = content.length.toString(16);
  const length = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content]);
}
