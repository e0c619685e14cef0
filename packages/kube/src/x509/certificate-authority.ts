import 'reflect-metadata';
import { createPrivateKey, X509Certificate, type KeyObject, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { BugError } from '@berth/runtime/errors';
import { readCertificate } from './certificate-fields.ts';
import { type CertificateSubject, readSubject, sameSubject } from './certificate-subject.ts';
import { serialNumber, type PemPair, BACKDATE_MS } from './self-signed-authority.ts';

x509.cryptoProvider.set(webcrypto as never);

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
/** By the name that node:crypto gives the curve. */
const CURVES: Readonly<Record<string, SigningAlgorithm>> = {
  prime256v1: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' },
};
const RSA: SigningAlgorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };

interface SigningAlgorithm {
  readonly name: string;
  readonly hash: string;
  readonly namedCurve?: string;
}

/** Key usages of a client certificate, as named by the certificates API. */
export type KeyUsage = 'digital signature' | 'key encipherment';

const USAGE_FLAGS: Readonly<Record<KeyUsage, number>> = {
  'digital signature': x509.KeyUsageFlags.digitalSignature,
  'key encipherment': x509.KeyUsageFlags.keyEncipherment,
};
const BOTH_USAGES: readonly KeyUsage[] = ['digital signature', 'key encipherment'];

interface IssueRequest {
  readonly subject: CertificateSubject;
  readonly organizationalUnits?: readonly string[];
  /** SubjectPublicKeyInfo. */
  readonly publicKeyDer: Buffer;
  /** `peer`: both ends of a connection. */
  readonly usage: 'server' | 'client' | 'peer';
  readonly keyUsages?: readonly KeyUsage[];
  readonly nowMs: number;
  readonly lifetimeMs: number;
  /** Host names and addresses of a serving certificate. */
  readonly hosts?: readonly string[];
}

interface Signing {
  readonly cert: x509.X509Certificate;
  readonly key: webcrypto.CryptoKey;
  readonly algorithm: SigningAlgorithm;
}

/** Extended key usages of a certificate. Those of a peer are in OCM's order. */
const PURPOSES: Readonly<Record<IssueRequest['usage'], readonly x509.ExtendedKeyUsage[]>> = {
  server: [x509.ExtendedKeyUsage.serverAuth],
  client: [x509.ExtendedKeyUsage.clientAuth],
  peer: [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth],
};

/** Signs certificates with one authority's key. */
export class CertificateAuthority {
  readonly certPem: string;
  readonly #pair: PemPair;
  #loaded: Promise<Signing> | undefined;

  /** Parses the key when the first certificate is issued, since most members never issue one. */
  constructor(pair: PemPair) {
    this.certPem = pair.certPem;
    this.#pair = pair;
  }

  /** Loads an authority and checks its key. Throws when the key cannot be used. */
  static async load(pair: PemPair): Promise<CertificateAuthority> {
    const authority = new CertificateAuthority(pair);
    await authority.#ready();
    return authority;
  }

  #ready(): Promise<Signing> {
    this.#loaded ??= loadSigning(this.#pair);
    return this.#loaded;
  }

  /** A new key and a certificate for the server itself. */
  async issueServing(
    hosts: readonly string[],
    nowMs: number,
    lifetimeMs: number,
    commonName = 'berth-hub',
  ): Promise<PemPair> {
    const subject = { commonName, organizations: [] };
    return this.#issuePair({ subject, usage: 'server', nowMs, lifetimeMs, hosts });
  }

  /** A new key and a client certificate: the common name is the user, the organizations are its groups. */
  async issueClient(subject: CertificateSubject, nowMs: number, lifetimeMs: number): Promise<PemPair> {
    return this.#issuePair({ subject, usage: 'client', nowMs, lifetimeMs });
  }

  /** A client certificate for a key of the requester. */
  async signClientKey(
    request: Pick<IssueRequest, 'subject' | 'publicKeyDer' | 'keyUsages' | 'lifetimeMs'>,
    nowMs: number,
  ): Promise<string> {
    return this.#issue({ ...request, usage: 'client', nowMs });
  }

  /** A certificate for a key of the requester, with which it can be either end of a connection. */
  async signPeerKey(
    request: Pick<IssueRequest, 'subject' | 'organizationalUnits' | 'publicKeyDer' | 'lifetimeMs' | 'hosts'>,
    nowMs: number,
  ): Promise<string> {
    return this.#issue({ ...request, usage: 'peer', nowMs });
  }

  /** When the authority itself expires. */
  async expiresAtMs(): Promise<number> {
    return (await this.#ready()).cert.notAfter.getTime();
  }

  async #issuePair(request: Omit<IssueRequest, 'publicKeyDer'>): Promise<PemPair> {
    const keys = await generateKeys();
    const publicKeyDer = Buffer.from(await webcrypto.subtle.exportKey('spki', keys.publicKey));
    return {
      certPem: await this.#issue({ ...request, publicKeyDer }),
      keyPem: await exportKey(keys.privateKey),
    };
  }

  async #issue(request: IssueRequest): Promise<string> {
    const { subject, publicKeyDer, usage, nowMs, lifetimeMs, hosts = [] } = request;
    const usages = (request.keyUsages ?? BOTH_USAGES).reduce((flags, name) => flags | USAGE_FLAGS[name], 0);
    const authority = await this.#ready();
    const cert = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber().toString('hex'),
      subject: typedName(subject, request.organizationalUnits),
      issuer: authority.cert.subjectName,
      notBefore: new Date(nowMs - BACKDATE_MS),
      // Never longer than the authority itself.
      notAfter: new Date(Math.min(nowMs + lifetimeMs, authority.cert.notAfter.getTime())),
      signingAlgorithm: authority.algorithm,
      publicKey: publicKeyDer,
      signingKey: authority.key,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        ...(usages === 0 ? [] : [new x509.KeyUsagesExtension(usages, true)]),
        new x509.ExtendedKeyUsageExtension([...PURPOSES[usage]]),
        await issuerKeyIdentifier(authority.cert),
        ...(hosts.length > 0 ? [new x509.SubjectAlternativeNameExtension(hosts.map(generalName))] : []),
      ],
    });
    requireExact(Buffer.from(cert.rawData), request);
    return pem(cert);
  }
}

/**
 * The name in structured form. The library parses a plain string as a notation with quotes, escapes
 * and `#hex`, and could issue another name than the one that was checked.
 */
function typedName(
  { commonName, organizations }: CertificateSubject,
  organizationalUnits: readonly string[] = [],
): x509.Name {
  return new x509.Name([
    ...organizationalUnits.map((name) => ({ OU: [{ utf8String: name }] })),
    ...organizations.map((name) => ({ O: [{ utf8String: name }] })),
    { CN: [{ utf8String: commonName }] },
  ]);
}

/**
 * Checks the issued certificate.
 * @throws BugError when its names or key differ from the requested ones
 */
function requireExact(der: Buffer, { subject, publicKeyDer }: IssueRequest): void {
  const fields = readCertificate(der);
  const issued = fields === undefined ? undefined : readSubject(fields.subjectDer);
  if (
    issued?.kind === 'subject' &&
    sameSubject(issued.subject, subject) &&
    fields?.publicKeyDer.equals(publicKeyDer) === true
  )
    return;
  throw new BugError('is not for the names and the key that were checked', {
    code: 'hub.certificate-differs',
    subject: `issued certificate of ${JSON.stringify(subject.commonName)}`,
  });
}

function generalName(host: string): x509.GeneralName {
  const isAddress = /^\d+\.\d+\.\d+\.\d+$/.test(host) || host.includes(':');
  return new x509.GeneralName(isAddress ? 'ip' : 'dns', host);
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = await webcrypto.subtle.exportKey('pkcs8', key);
  return `${x509.PemConverter.encode(der, 'PRIVATE KEY')}\n`;
}

/** @throws Error when the key is of another kind, or not that of the certificate */
async function loadSigning({ certPem, keyPem }: PemPair): Promise<Signing> {
  const privateKey = createPrivateKey(keyPem);
  const algorithm = algorithmOf(privateKey);
  if (algorithm === undefined) throw new Error('the key of the authority is neither RSA nor ECDSA');
  const first = new X509Certificate(certPem);
  if (!first.checkPrivateKey(privateKey)) throw new Error('the key is not that of the certificate');
  const der = privateKey.export({ type: 'pkcs8', format: 'der' });
  const key = await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
  return { cert: new x509.X509Certificate(first.raw), key, algorithm };
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): SigningAlgorithm | undefined {
  if (asymmetricKeyType === 'rsa') return RSA;
  return asymmetricKeyType === 'ec' ? CURVES[asymmetricKeyDetails?.namedCurve ?? ''] : undefined;
}

/** As the authority names its key: OpenSSL refuses a chain in which both names are there and differ. */
async function issuerKeyIdentifier(authority: x509.X509Certificate): Promise<x509.Extension> {
  const own = authority.getExtension(x509.SubjectKeyIdentifierExtension);
  return own === null
    ? x509.AuthorityKeyIdentifierExtension.create(authority.publicKey)
    : new x509.AuthorityKeyIdentifierExtension(own.keyId);
}

function pem(cert: x509.X509Certificate): string {
  return `${cert.toString('pem')}\n`;
}
