import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';

const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const FEWEST_RSA_BITS = 2048;
/** As Go's TLS: a signature by a longer key takes the server too long to check. */
const MOST_RSA_BITS = 8192;
/** FIPS 186-5, section 5.1: larger than 2^16, odd. Longer exponents make every check of a signature as slow as a signature. */
const SMALLEST_EXPONENT = 65_537n;
const LARGEST_EXPONENT = 2n ** 32n - 1n;

/** A public key that may be in a certificate, or why it may not. */
export type KeyVerdict =
  | { readonly kind: 'good'; readonly key: KeyObject }
  | { readonly kind: 'refused'; readonly why: string };

/** Judges a SubjectPublicKeyInfo without computing with it: RSA from 2048 bits, ECDSA on P-256, P-384 or P-521, Ed25519. */
export function judgeKey(publicKeyDer: Buffer): KeyVerdict {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: publicKeyDer, format: 'der', type: 'spki' });
  } catch {
    return { kind: 'refused', why: 'the public key cannot be read' };
  }
  const why = problemOf(key);
  return why === undefined ? { kind: 'good', key } : { kind: 'refused', why };
}

function problemOf(key: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return undefined;
    case 'ec':
      return CURVES.has(namedCurve)
        ? undefined
        : `the ECDSA key is on the curve ${JSON.stringify(namedCurve)}, expected P-256, P-384 or P-521`;
    case 'rsa':
      if (modulusLength < FEWEST_RSA_BITS || modulusLength > MOST_RSA_BITS)
        return `the RSA key has ${String(modulusLength)} bits, expected ${String(FEWEST_RSA_BITS)} to ${String(MOST_RSA_BITS)}`;
      if (
        publicExponent % 2n === 0n ||
        publicExponent < SMALLEST_EXPONENT ||
        publicExponent > LARGEST_EXPONENT
      )
        return 'the RSA key has an unusual public exponent, expected an odd number from 65537 to 2^32';
      return undefined;
    default:
      return `the key is of the type ${JSON.stringify(key.asymmetricKeyType)}, expected RSA, ECDSA or Ed25519`;
  }
}
