import type { KeyObject } from 'node:crypto';
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { writeDer } from '@berth/kube/x509/der';

/** Tags of the ASN.1 string types that a name may hold. */
export const STRING_TAG = {
  utf8: 0x0c,
  printable: 0x13,
  teletex: 0x14,
  ia5: 0x16,
  bmp: 0x1e,
} as const;

const OID = {
  commonName: '550403',
  organization: '55040a',
  organizationalUnit: '55040b',
  ecdsaWithSha256: '2a8648ce3d040302',
  sha256WithRsa: '2a864886f70d01010b',
  ed25519: '2b6570',
  extensionRequest: '2a864886f70d01090e',
  basicConstraints: '551d13',
  keyUsage: '551d0f',
  subjectAltName: '551d11',
} as const;

/** One attribute of a name, with the ASN.1 type that an attacker likes. */
export interface HostileAttribute {
  readonly type: 'CN' | 'O' | 'OU';
  readonly value: string | Buffer;
  readonly tag?: number;
}

export interface HostileRequest {
  /** Each inner list is one RDN: several attributes in it make a multi-valued RDN. */
  readonly subject: readonly (readonly HostileAttribute[])[];
  readonly privateKey: KeyObject;
  /** Another key than the one that signs. */
  readonly publicKey?: KeyObject;
  /** Takes the place of the encoded public key. */
  readonly publicKeyDer?: Buffer;
  /** Asks for a certificate authority and for names of a server. */
  readonly wantsAuthority?: boolean;
  /** Asks for these names, as agents of add-ons do. */
  readonly dnsNames?: readonly string[];
  /** Bytes of an attribute that means nothing. */
  readonly paddingBytes?: number;
}

const sequence = (...parts: Buffer[]): Buffer => writeDer(0x30, ...parts);
const set = (...parts: Buffer[]): Buffer => writeDer(0x31, ...parts);
const oid = (hex: string): Buffer => writeDer(0x06, Buffer.from(hex, 'hex'));
const octets = (...parts: Buffer[]): Buffer => writeDer(0x04, ...parts);

/** CN and O as one RDN each, UTF8String: what honest clients send. */
export function plainSubject(commonName: string, ...organizations: string[]): HostileAttribute[][] {
  return [
    ...organizations.map((value): HostileAttribute[] => [{ type: 'O', value }]),
    [{ type: 'CN', value: commonName }],
  ];
}

/** A P-256 key. */
export function freshKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

export function keyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A PKCS#10 request, PEM, made byte by byte so that no library refuses what an attacker would send. */
export function requestPem(wanted: HostileRequest): string {
  return pemOf('CERTIFICATE REQUEST', requestDer(wanted));
}

export function pemOf(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

export function requestDer(wanted: HostileRequest): Buffer {
  const { subject, privateKey, publicKey, publicKeyDer } = wanted;
  const spki =
    publicKeyDer ?? (publicKey ?? createPublicKey(privateKey)).export({ type: 'spki', format: 'der' });
  const name = sequence(...subject.map((rdn) => set(...rdn.map(attribute))));
  const info = sequence(writeDer(0x02, Buffer.from([0])), name, spki, writeDer(0xa0, ...attributes(wanted)));
  const { algorithm, signature } = signed(info, privateKey);
  return sequence(info, algorithm, writeDer(0x03, Buffer.from([0]), signature));
}

function attribute({ type, value, tag = STRING_TAG.utf8 }: HostileAttribute): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  const ids = { CN: OID.commonName, O: OID.organization, OU: OID.organizationalUnit };
  return sequence(oid(ids[type]), writeDer(tag, bytes));
}

function attributes({ wantsAuthority = false, dnsNames, paddingBytes = 0 }: HostileRequest): Buffer[] {
  const all: Buffer[] = [];
  if (dnsNames !== undefined) {
    const hosts = dnsNames.map((name) => writeDer(0x82, Buffer.from(name)));
    const names = sequence(oid(OID.subjectAltName), octets(sequence(...hosts)));
    all.push(sequence(oid(OID.extensionRequest), set(sequence(names))));
  }
  if (wantsAuthority) {
    const yes = writeDer(0x01, Buffer.from([0xff]));
    const authority = sequence(oid(OID.basicConstraints), yes, octets(sequence(yes)));
    const usage = sequence(oid(OID.keyUsage), yes, octets(writeDer(0x03, Buffer.from([1, 0x06]))));
    const host = writeDer(0x82, Buffer.from('kubernetes.default.svc'));
    const names = sequence(oid(OID.subjectAltName), octets(sequence(host)));
    all.push(sequence(oid(OID.extensionRequest), set(sequence(authority, usage, names))));
  }
  if (paddingBytes > 0) all.push(sequence(oid('2a0304'), set(octets(Buffer.alloc(paddingBytes)))));
  return all;
}

function signed(info: Buffer, key: KeyObject): { readonly algorithm: Buffer; readonly signature: Buffer } {
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return { algorithm: sequence(oid(OID.ed25519)), signature: sign(null, info, key) };
    case 'rsa':
      return {
        algorithm: sequence(oid(OID.sha256WithRsa), writeDer(0x05)),
        signature: sign('sha256', info, key),
      };
    default:
      return { algorithm: sequence(oid(OID.ecdsaWithSha256)), signature: sign('sha256', info, key) };
  }
}
