import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto as never);

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNING_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' };
const CA_LIFETIME_MS = 3650 * 86_400_000;
/** Clocks of clients may be a little behind: every certificate is valid from so long before it was issued. */
export const BACKDATE_MS = 5 * 60_000;

export interface PemPair {
  readonly certPem: string;
  readonly keyPem: string;
}

/** A self-signed authority: ECDSA P-256, ten years. */
export async function createAuthority(commonName: string, nowMs: number): Promise<PemPair> {
  const keys = await generateKeys();
  const usages =
    x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.cRLSign;
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    notBefore: new Date(nowMs - BACKDATE_MS),
    notAfter: new Date(nowMs + CA_LIFETIME_MS),
    signingAlgorithm: SIGNING_ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(usages, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certPem: pem(cert), keyPem: await exportKey(keys.privateKey) };
}

/** The user and groups that a client certificate stands for. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

interface IssueRequest {
  readonly subject: CertificateSubject;
  readonly publicKey: webcrypto.CryptoKey | x509.PublicKey;
  readonly usage: 'server' | 'client';
  readonly nowMs: number;
  readonly lifetimeMs: number;
  /** Host names and addresses of a serving certificate. */
  readonly hosts?: readonly string[];
}

/** Signs certificates with one authority's key. */
export class CertificateAuthority {
  readonly certPem: string;
  readonly #cert: x509.X509Certificate;
  readonly #key: webcrypto.CryptoKey;

  private constructor(certPem: string, key: webcrypto.CryptoKey) {
    this.certPem = certPem;
    this.#cert = new x509.X509Certificate(certPem);
    this.#key = key;
  }

  static async load(pair: PemPair): Promise<CertificateAuthority> {
    return new CertificateAuthority(pair.certPem, await importKey(pair.keyPem));
  }

  /** A new key and a certificate for the server itself. */
  async issueServing(hosts: readonly string[], nowMs: number, lifetimeMs: number): Promise<PemPair> {
    const keys = await generateKeys();
    const subject = { commonName: 'berth-hub', organizations: [] };
    const { publicKey } = keys;
    const certPem = await this.#issue({ subject, publicKey, usage: 'server', nowMs, lifetimeMs, hosts });
    return { certPem, keyPem: await exportKey(keys.privateKey) };
  }

  /** A new key and a client certificate: the common name is the user, the organisations are its groups. */
  async issueClient(subject: CertificateSubject, nowMs: number, lifetimeMs: number): Promise<PemPair> {
    const keys = await generateKeys();
    const { publicKey } = keys;
    const certPem = await this.#issue({ subject, publicKey, usage: 'client', nowMs, lifetimeMs });
    return { certPem, keyPem: await exportKey(keys.privateKey) };
  }

  /** Signs the key of a PKCS#10 request as a client certificate with the request's own subject. */
  async signClientRequest(request: ParsedRequest, nowMs: number, lifetimeMs: number): Promise<string> {
    const { subject, publicKey } = request;
    return this.#issue({ subject, publicKey, usage: 'client', nowMs, lifetimeMs });
  }

  async #issue(request: IssueRequest): Promise<string> {
    const { subject, publicKey, usage, nowMs, lifetimeMs, hosts = [] } = request;
    const purpose = usage === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
    const usages = x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment;
    const cert = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject: [...subject.organizations.map((name) => ({ O: [name] })), { CN: [subject.commonName] }],
      issuer: this.#cert.subject,
      notBefore: new Date(nowMs - BACKDATE_MS),
      // Never longer than the authority itself.
      notAfter: new Date(Math.min(nowMs + lifetimeMs, this.#cert.notAfter.getTime())),
      signingAlgorithm: SIGNING_ALGORITHM,
      publicKey,
      signingKey: this.#key,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(usages, true),
        new x509.ExtendedKeyUsageExtension([purpose]),
        await x509.AuthorityKeyIdentifierExtension.create(this.#cert.publicKey),
        ...(hosts.length > 0 ? [new x509.SubjectAlternativeNameExtension(hosts.map(generalName))] : []),
      ],
    });
    return pem(cert);
  }
}

/** A certificate request whose signature proved possession of the key. */
export interface ParsedRequest {
  readonly subject: CertificateSubject;
  readonly publicKey: x509.PublicKey;
}

/** Undefined when the text is not a PKCS#10 request or its signature is wrong. */
export async function parseCertificateRequest(text: string): Promise<ParsedRequest | undefined> {
  try {
    const request = new x509.Pkcs10CertificateRequest(text);
    if (!(await request.verify())) return undefined;
    const { subjectName, publicKey } = request;
    const commonName = subjectName.getField('CN')[0] ?? '';
    return { subject: { commonName, organizations: subjectName.getField('O') }, publicKey };
  } catch {
    return undefined;
  }
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

async function importKey(keyPem: string): Promise<webcrypto.CryptoKey> {
  const der = x509.PemConverter.decodeFirst(keyPem);
  return webcrypto.subtle.importKey('pkcs8', der, KEY_ALGORITHM, false, ['sign']);
}

function pem(cert: x509.X509Certificate): string {
  return `${cert.toString('pem')}\n`;
}

/** 127 random bits: positive, and never the same twice. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] as number) & 0x7f) | 0x40;
  return bytes.toString('hex');
}
