import { hash } from 'node:crypto';

/** @returns the SHA-256 of the bytes (UTF-8 for a text), as 64 lower-case hexadecimal digits */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content);
}
