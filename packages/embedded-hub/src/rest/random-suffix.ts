import { randomInt } from 'node:crypto';

/** Letters and digits that cannot spell words or be mistaken for each other; the alphabet of generated names. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** The five characters that are appended to `generateName`. */
export function randomSuffix(length = 5): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}
