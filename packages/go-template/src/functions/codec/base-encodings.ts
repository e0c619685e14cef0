import { Buffer } from 'node:buffer';

/**
 * encoding/base64 and encoding/base32 with their standard alphabets. Text that cannot be decoded
 * gives the error text, as in sprig.
 */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function encodeBase64(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('base64');
}

export function encodeBase32(bytes: string): string {
  return encodeBits(bytes, BASE32, 5).padEnd(Math.ceil(bytes.length / 5) * 8, '=');
}

function encodeBits(bytes: string, alphabet: string, size: number): string {
  let [text, held, bits] = ['', 0, 0];
  for (const byte of bytes) {
    held = ((held << 8) | byte.charCodeAt(0)) & 0xffff;
    for (bits += 8; bits >= size; bits -= size)
      text += alphabet[(held >> (bits - size)) & (2 ** size - 1)] ?? '';
  }
  return bits === 0 ? text : text + (alphabet[(held << (size - bits)) & (2 ** size - 1)] ?? '');
}

/** An encoding. A quantum has 4 characters in base64 and 8 in base32. */
interface Encoding {
  readonly name: 'base64' | 'base32';
  readonly alphabet: string;
  readonly bits: number;
  readonly quantum: number;
  /** The allowed numbers of data characters in the last quantum. */
  readonly lengths: readonly number[];
}

const FOR_64: Encoding = { name: 'base64', alphabet: BASE64, bits: 6, quantum: 4, lengths: [2, 3, 4] };
const FOR_32: Encoding = { name: 'base32', alphabet: BASE32, bits: 5, quantum: 8, lengths: [2, 4, 5, 7, 8] };

export function decodeBase64(text: string): string {
  return decodeWith(text, FOR_64);
}

export function decodeBase32(text: string): string {
  return decodeWith(text, FOR_32);
}

/** Decodes a text. Line breaks are skipped. An error names the byte at which Go reports it. */
function decodeWith(text: string, encoding: Encoding): string {
  const places = [...text.matchAll(/[^\r\n]/g)].map(({ index }) => index);
  // base32 removes the line breaks first, so it counts without them.
  const isBase32 = encoding.name === 'base32';
  const data = places.map((place) => text[place] ?? '').join('');
  const corrupt = (at: number): string => {
    const place = isBase32 ? at : (places[at] ?? (at === places.length ? text.length : at));
    return `illegal ${encoding.name} data at input byte ${place}`;
  };
  let decoded = '';
  for (let at = 0; at < data.length; at += encoding.quantum) {
    const part = data.slice(at, at + encoding.quantum);
    const length = [...part].findIndex((char) => !encoding.alphabet.includes(char));
    const characters = length < 0 ? part.length : length;
    if (characters < encoding.quantum) {
      const wrong = wrongAt(part, characters, encoding, data.length - at);
      if (wrong !== undefined) return corrupt(at + wrong);
    }
    decoded += decodeQuantum(part.slice(0, characters), encoding);
  }
  return decoded;
}

/**
 * The position of an error in the last quantum: an unknown character, missing padding, or text
 * after the padding. Undefined if there is none.
 */
function wrongAt(part: string, characters: number, encoding: Encoding, left: number): number | undefined {
  const char = part[characters];
  if (char === undefined) return encoding.name === 'base64' ? part.length - (part.length % 4) : 0;
  if (char !== '=') return characters;
  if (!encoding.lengths.includes(characters)) return characters;
  const padding = encoding.quantum - characters;
  for (let index = 0; index < padding; index++)
    if (part[characters + index] !== '=') return Math.min(characters + index, left);
  return left > encoding.quantum ? encoding.quantum : undefined;
}

function decodeQuantum(part: string, { alphabet, bits }: Encoding): string {
  let [decoded, held, count] = ['', 0, 0];
  for (const char of part) {
    held = ((held << bits) | alphabet.indexOf(char)) & 0xffff;
    count += bits;
    if (count >= 8) {
      count -= 8;
      decoded += String.fromCharCode((held >> count) & 0xff);
    }
  }
  return decoded;
}
