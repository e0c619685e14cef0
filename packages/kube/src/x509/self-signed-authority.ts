import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { DER_TAG, readNested, writeDer } from './der.ts';

const LIFETIME_MS = 3650 * 86_400_000;
/** RFC 5280, section 4.1.2.5: times from 2050 on are written with four digits for the year. */
const FIRST_LONG_YEAR = 2050;

const ECDSA_WITH_SHA256 = objectId('2a8648ce3d040302');
const COMMON_NAME = objectId('550403');
const VERSION_3 = writeDer(DER_TAG.context0, writeDer(DER_TAG.integer, Buffer.from([2])));
const TRUE = writeDer(DER_TAG.boolean, Buffer.from([0xff]));
const IS_AUTHORITY = extension('551d13', true, sequence(TRUE));
/** digitalSignature, keyCertSign, cRLSign. */
const USAGES = extension('551d0f', true, writeDer(DER_TAG.bitString, Buffer.from([1, 0x86])));

/**
 * Certificates are valid from this long before they are issued, because clocks of clients may be
 * behind.
 */
export const BACKDATE_MS = 5 * 60_000;

/** A certificate and its private key, PEM. */
export interface PemPair {
  readonly certPem: string;
  readonly keyPem: string;
}

/**
 * A self-signed authority: ECDSA P-256, ten years. Encoded here, while the X.509 library makes all
 * other certificates: at its first start a hub creates two authorities per member, and the library
 * takes 4 ms for each, this function 0.4 ms.
 */
export function createAuthority(commonName: string, nowMs: number): PemPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKeyDer = publicKey.export({ type: 'spki', format: 'der' });
  const text = writeDer(DER_TAG.utf8String, Buffer.from(commonName));
  const name = sequence(writeDer(DER_TAG.set, sequence(COMMON_NAME, text)));
  const algorithm = sequence(ECDSA_WITH_SHA256);
  const body = sequence(
    VERSION_3,
    writeDer(DER_TAG.integer, serialNumber()),
    algorithm,
    name,
    sequence(time(nowMs - BACKDATE_MS), time(nowMs + LIFETIME_MS)),
    name,
    publicKeyDer,
    writeDer(DER_TAG.context3, sequence(IS_AUTHORITY, USAGES, keyIdentifier(publicKeyDer))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]);
  const der = sequence(body, algorithm, writeDer(DER_TAG.bitString, signature));
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    certPem: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** 126 random bits: positive and unique. */
export function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return bytes;
}

/** RFC 5280, section 4.2.1.2, first method: the identifier of the issuer's key. */
function keyIdentifier(publicKeyDer: Buffer): Buffer {
  const [, key] = readNested(publicKeyDer, DER_TAG.sequence) ?? [];
  const bits = key?.content.subarray(1) ?? Buffer.alloc(0);
  return extension('551d0e', false, writeDer(DER_TAG.octetString, createHash('sha1').update(bits).digest()));
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  const marks = critical ? [TRUE] : [];
  return sequence(objectId(id), ...marks, writeDer(DER_TAG.octetString, value));
}

function time(ms: number): Buffer {
  const date = new Date(ms);
  const text = `${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  return date.getUTCFullYear() < FIRST_LONG_YEAR
    ? writeDer(DER_TAG.utcTime, Buffer.from(text.slice(2)))
    : writeDer(DER_TAG.generalizedTime, Buffer.from(text));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return writeDer(DER_TAG.sequence, ...parts);
}

function objectId(hex: string): Buffer {
  return writeDer(DER_TAG.objectId, Buffer.from(hex, 'hex'));
}
