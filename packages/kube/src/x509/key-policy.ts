import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import { DER_TAG, readDer, readNested } from './der.ts';

const RSA = '2a864886f70d010101';
const EC = '2a8648ce3d0201';
const ED25519 = '2b6570';
/** P-256, P-384 and P-521. */
const CURVES = new Set(['2a8648ce3d030107', '2b81040022', '2b81040023']);
const MIN_RSA_BITS = 2048;
/** The limit of Go's TLS: checking signatures of longer keys takes too long. */
const MAX_RSA_BITS = 8192;
/** FIPS 186-5, section 5.1: larger than 2^16, odd. Longer exponents make every check of a signature as slow as a signature. */
const MIN_EXPONENT = 65_537n;
const MAX_EXPONENT = 2n ** 32n - 1n;

/** Whether a public key may be in a certificate, or why not. */
export type KeyVerdict =
  | { readonly kind: 'good'; readonly key: KeyObject }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Judges a SubjectPublicKeyInfo (RFC 5280, section 4.1) without computing with it: RSA from 2048
 * bits, ECDSA on P-256, P-384 or P-521, Ed25519. Keys of other types are not parsed, because
 * explicit curve parameters can cost any amount of time.
 */
export function judgeKey(publicKeyDer: Buffer): KeyVerdict {
  if (!isOfKnownType(publicKeyDer))
    return refuse('the key is not RSA, ECDSA on P-256, P-384 or P-521, or Ed25519');
  let key: KeyObject;
  try {
    key = createPublicKey({ key: publicKeyDer, format: 'der', type: 'spki' });
  } catch {
    return refuse('the public key cannot be read');
  }
  const why = key.asymmetricKeyType === 'rsa' ? rsaProblem(key) : undefined;
  return why === undefined ? { kind: 'good', key } : refuse(why);
}

function isOfKnownType(publicKeyDer: Buffer): boolean {
  const [algorithm] = readNested(publicKeyDer, DER_TAG.sequence) ?? [];
  const [type, parameters] = algorithm === undefined ? [] : (readDer(algorithm.content) ?? []);
  const id = type?.content.toString('hex');
  if (id === EC)
    return parameters?.tag === DER_TAG.objectId && CURVES.has(parameters.content.toString('hex'));
  return id === RSA || id === ED25519;
}

function rsaProblem(key: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS)
    return `the RSA key has ${String(modulusLength)} bits, expected ${String(MIN_RSA_BITS)} to ${String(MAX_RSA_BITS)}`;
  const isUsual =
    publicExponent % 2n === 1n && publicExponent >= MIN_EXPONENT && publicExponent <= MAX_EXPONENT;
  return isUsual
    ? undefined
    : 'the RSA key has an unusual public exponent, expected an odd number from 65537 to 2^32';
}

function refuse(why: string): KeyVerdict {
  return { kind: 'refused', why };
}
