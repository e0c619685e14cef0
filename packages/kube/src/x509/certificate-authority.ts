import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { BugError } from '@berth/runtime/errors';
import { readCertificate } from './certificate-fields.ts';
import { type CertificateSubject, readSubject, sameSubject } from './certificate-subject.ts';
import { serialNumber, type PemPair, BACKDATE_MS } from './self-signed-authority.ts';

x509.cryptoProvider.set(webcrypto as never);

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNING_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' };

/** Key usages of a client certificate, as named by the certificates API. */
export type KeyUsage = 'digital signature' | 'key encipherment';

const USAGE_FLAGS: Readonly<Record<KeyUsage, number>> = {
  'digital signature': x509.KeyUsageFlags.digitalSignature,
  'key encipherment': x509.KeyUsageFlags.keyEncipherment,
};
const BOTH_USAGES: readonly KeyUsage[] = ['digital signature', 'key encipherment'];

interface IssueRequest {
  readonly subject: CertificateSubject;
  /** SubjectPublicKeyInfo. */
  readonly publicKeyDer: Buffer;
  readonly usage: 'server' | 'client';
  readonly keyUsages?: readonly KeyUsage[];
  readonly nowMs: number;
  readonly lifetimeMs: number;
  /** Host names and addresses of a serving certificate. */
  readonly hosts?: readonly string[];
}

interface Signing {
  readonly cert: x509.X509Certificate;
  readonly key: webcrypto.CryptoKey;
}

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
    const purpose = usage === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
    const usages = (request.keyUsages ?? BOTH_USAGES).reduce((flags, name) => flags | USAGE_FLAGS[name], 0);
    const authority = await this.#ready();
    const cert = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber().toString('hex'),
      subject: typedName(subject),
      issuer: authority.cert.subjectName,
      notBefore: new Date(nowMs - BACKDATE_MS),
      // Never longer than the authority itself.
      notAfter: new Date(Math.min(nowMs + lifetimeMs, authority.cert.notAfter.getTime())),
      signingAlgorithm: SIGNING_ALGORITHM,
      publicKey: publicKeyDer,
      signingKey: authority.key,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        ...(usages === 0 ? [] : [new x509.KeyUsagesExtension(usages, true)]),
        new x509.ExtendedKeyUsageExtension([purpose]),
        await x509.AuthorityKeyIdentifierExtension.create(authority.cert.publicKey),
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
function typedName({ commonName, organizations }: CertificateSubject): x509.Name {
  return new x509.Name([
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

async function loadSigning({ certPem, keyPem }: PemPair): Promise<Signing> {
  const der = x509.PemConverter.decodeFirst(keyPem);
  const key = await webcrypto.subtle.importKey('pkcs8', der, KEY_ALGORITHM, false, ['sign']);
  return { cert: new x509.X509Certificate(certPem), key };
}

function pem(cert: x509.X509Certificate): string {
  return `${cert.toString('pem')}\n`;
}
