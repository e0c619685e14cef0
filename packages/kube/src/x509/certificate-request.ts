import type { KeyObject } from 'node:crypto';
import { verify } from 'node:crypto';
import { DER_TAG, readDer, readNested } from './der.ts';
import type { KeyVerdict } from './key-policy.ts';
import { judgeKey } from './key-policy.ts';

/** A parsed certificate request. Whether it may be signed is decided elsewhere. */
export interface CertificateRequest {
  readonly kind: 'request';
  /** DER of the requested Name. */
  readonly subjectDer: Buffer;
  /** DER of the SubjectPublicKeyInfo. */
  readonly publicKeyDer: Buffer;
  /** If the key is refused, the signature of the request was not checked. */
  readonly keyVerdict: KeyVerdict;
  /**
   * The request contains extensions, such as subject alternative names, or other attributes. No
   * signer of the hub supports any.
   */
  readonly hasAttributes: boolean;
}

export type RequestReading = CertificateRequest | { readonly kind: 'malformed'; readonly why: string };

/** A request with an RSA key of 8192 bits and a hundred long names is a tenth of it. */
const MAX_REQUEST_BYTES = 64 * 1024;
/**
 * Exactly one line break before the content; a pattern for any white space would need quadratic
 * time for a text of spaces.
 */
const ONE_BLOCK =
  /^\s*-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\s]+)-----END CERTIFICATE REQUEST-----\s*$/;

/** Hashes of the signature algorithms (RFC 5758, RFC 8017, RFC 8410); `null` where the algorithm has its own. */
const HASHES: Readonly<Record<string, string | null>> = {
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  '2b6570': null,
};

/**
 * Reads one PEM block with a PKCS#10 request (RFC 2986) in strict DER and checks that its signer holds the key, unless the
 * key is one that is never signed.
 */
export function readCertificateRequest(pem: string): RequestReading {
  if (pem.length > MAX_REQUEST_BYTES)
    return malformed(`the request is longer than ${String(MAX_REQUEST_BYTES)} bytes`);
  const block = ONE_BLOCK.exec(pem)?.[1];
  if (block === undefined)
    return malformed('PEM block type must be CERTIFICATE REQUEST, one block and nothing else');
  const [info, algorithm, signature, ...more] =
    readNested(Buffer.from(block, 'base64'), DER_TAG.sequence) ?? [];
  const [version, subject, key, attributes] = info === undefined ? [] : (readDer(info.content) ?? []);
  const isWellFormed =
    info?.tag === DER_TAG.sequence &&
    algorithm?.tag === DER_TAG.sequence &&
    signature?.tag === DER_TAG.bitString &&
    version?.tag === DER_TAG.integer &&
    subject?.tag === DER_TAG.sequence &&
    key?.tag === DER_TAG.sequence &&
    (attributes === undefined || attributes.tag === DER_TAG.context0) &&
    more.length === 0;
  if (!isWellFormed) return malformed('the block is not a certificate request in DER');
  const keyVerdict = judgeKey(key.whole);
  const proof = { info: info.whole, algorithm: algorithm.content, signature: signature.content };
  if (keyVerdict.kind === 'good' && !provesPossession(keyVerdict.key, proof))
    return malformed('the signature of the request is not by its key');
  return {
    kind: 'request',
    subjectDer: subject.whole,
    publicKeyDer: key.whole,
    keyVerdict,
    hasAttributes: (attributes?.content.length ?? 0) > 0,
  };
}

function provesPossession(
  key: KeyObject,
  proof: { readonly info: Buffer; readonly algorithm: Buffer; readonly signature: Buffer },
): boolean {
  const [id] = readDer(proof.algorithm) ?? [];
  const hash = id?.tag === DER_TAG.objectId ? HASHES[id.content.toString('hex')] : undefined;
  // The first byte of a bit string counts unused bits.
  if (hash === undefined || proof.signature[0] !== 0) return false;
  try {
    return verify(hash, proof.info, key, proof.signature.subarray(1));
  } catch {
    return false;
  }
}

function malformed(why: string): RequestReading {
  return { kind: 'malformed', why };
}
