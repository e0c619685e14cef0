import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { FuncMap } from '../value/go-func.ts';
import { func } from '../value/go-func.ts';
import { STRING } from '../value/go-type.ts';

const hash = (algorithm: string) => (bytes: string) =>
  createHash(algorithm).update(Buffer.from(bytes, 'latin1')).digest('hex');

function adler32(bytes: string): string {
  let [a, b] = [1, 0];
  for (let at = 0; at < bytes.length; at++) {
    a = (a + bytes.charCodeAt(at)) % 65521;
    b = (b + a) % 65521;
  }
  return String(b * 65536 + a);
}

/** sprig's checksums (crypto.go). */
export const SUM_FUNCTIONS: FuncMap = new Map([
  ['sha1sum', func([STRING], STRING, hash('sha1'))],
  ['sha256sum', func([STRING], STRING, hash('sha256'))],
  ['sha512sum', func([STRING], STRING, hash('sha512'))],
  ['adler32sum', func([STRING], STRING, adler32)],
]);
