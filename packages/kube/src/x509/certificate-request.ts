import { type KeyObject, verify, createPublicKey } from 'node:crypto';
import type { CertificateRequestObject, RequestContent } from '../model/signing-request.ts';
import { organizationalUnitsOf, readSubject } from './certificate-subject.ts';
import { DER_TAG, readDer, readNested } from './der.ts';

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
   * The request contains extensions, such as subject alternative names, or other attributes. The hub's own
   * signer ignores all of them.
   */
  readonly hasAttributes: boolean;
  /** The DNS names in it; undefined if it asks for anything else besides its subject and DNS names. */
  readonly dnsNames: readonly string[] | undefined;
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
    dnsNames: dnsNamesIn(attributes?.content ?? Buffer.alloc(0)),
  };
}

const EXTENSION_REQUEST = '2a864886f70d01090e';
const SUBJECT_ALT_NAME = '551d11';
/** `[2]`: a dNSName (RFC 5280, section 4.2.1.6). */
const DNS_NAME_TAG = 0x82;

/** @param attributes the content of a request's attributes (RFC 2985, section 5.4.2) */
function dnsNamesIn(attributes: Buffer): readonly string[] | undefined {
  const [attribute, ...others] = readDer(attributes) ?? [undefined, undefined];
  if (attribute === undefined) return others.length === 0 ? [] : undefined;
  const [type, values] = readNested(attribute.whole, DER_TAG.sequence) ?? [];
  const isWish = type?.tag === DER_TAG.objectId && type.content.toString('hex') === EXTENSION_REQUEST;
  if (others.length > 0 || !isWish || values === undefined) return undefined;
  const [wish] = readNested(values.whole, DER_TAG.set) ?? [];
  const [extension, ...more] = (wish && readNested(wish.whole, DER_TAG.sequence)) ?? [];
  const [id, ...content] = (extension && readNested(extension.whole, DER_TAG.sequence)) ?? [];
  const value = content.at(-1);
  if (id?.content.toString('hex') !== SUBJECT_ALT_NAME || more.length > 0) return undefined;
  if (value?.tag !== DER_TAG.octetString) return undefined;
  const names = readNested(value.content, DER_TAG.sequence) ?? [undefined];
  const isAscii = (bytes: Buffer): boolean => bytes.every((byte) => byte > 0x20 && byte < 0x7f);
  return names.every((name) => name?.tag === DNS_NAME_TAG && isAscii(name.content))
    ? names.map((name) => name?.content.toString('latin1') ?? '')
    : undefined;
}

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

/** Whether a public key may be in a certificate, or why not. */
type KeyVerdict =
  | { readonly kind: 'good'; readonly key: KeyObject }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Judges a SubjectPublicKeyInfo (RFC 5280, section 4.1) without computing with it: RSA from 2048
 * bits, ECDSA on P-256, P-384 or P-521, Ed25519. Keys of other types are not parsed, because
 * explicit curve parameters can cost any amount of time.
 */
function judgeKey(publicKeyDer: Buffer): KeyVerdict {
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

const RSA = '2a864886f70d010101';
const EC = '2a8648ce3d0201';
const ED25519 = '2b6570';
/** P-256, P-384 and P-521. */
const CURVES = new Set(['2a8648ce3d030107', '2b81040022', '2b81040023']);

function isOfKnownType(publicKeyDer: Buffer): boolean {
  const [algorithm] = readNested(publicKeyDer, DER_TAG.sequence) ?? [];
  const [type, parameters] = algorithm === undefined ? [] : (readDer(algorithm.content) ?? []);
  const id = type?.content.toString('hex');
  if (id === EC)
    return parameters?.tag === DER_TAG.objectId && CURVES.has(parameters.content.toString('hex'));
  return id === RSA || id === ED25519;
}

const MIN_RSA_BITS = 2048;
/** The limit of Go's TLS: checking signatures of longer keys takes too long. */
const MAX_RSA_BITS = 8192;
/** FIPS 186-5, section 5.1: larger than 2^16, odd. Longer exponents make every check of a signature as slow as a signature. */
const MIN_EXPONENT = 65_537n;
const MAX_EXPONENT = 2n ** 32n - 1n;

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

/**
 * Parses a certificate request as strictly as the embedded hub parses what it signs: exactly one PEM block, without
 * ambiguities.
 */
export function readRequest({ spec }: CertificateRequestObject): RequestContent {
  const pem = Buffer.from(spec?.request ?? '', 'base64').toString('latin1');
  const request = readCertificateRequest(pem);
  if (request.kind === 'malformed') return request;
  if (request.keyVerdict.kind === 'refused') return { kind: 'malformed', why: request.keyVerdict.why };
  const reading = readSubject(request.subjectDer);
  if (reading.kind === 'unusable') return { kind: 'malformed', why: reading.why };
  return {
    ...{ kind: 'subject', ...reading.subject, publicKeyDer: request.publicKeyDer },
    organizationalUnits: organizationalUnitsOf(request.subjectDer),
    ...{ asksForExtensions: request.hasAttributes, dnsNames: request.dnsNames },
  };
}
