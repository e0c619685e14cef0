import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type {
  CertificateFacts,
  StoredCertificates,
} from '../../core/registration/webhooks/plan-certificates.ts';
import type { PemPair } from '@berth/kube/x509/pem-pair';

/** What the Secret holds, in PEM. A field that the Secret lacks is absent. */
export interface CertificateTexts {
  readonly authority?: PemPair | undefined;
  readonly next?: PemPair | undefined;
  readonly last?: string | undefined;
  readonly serving?: PemPair | undefined;
}

/** Keys of the Secret. */
const KEYS = {
  authority: ['ca.crt', 'ca.key'],
  next: ['next-ca.crt', 'next-ca.key'],
  last: 'last-ca.crt',
  serving: ['tls.crt', 'tls.key'],
} as const;

export function readCertificateTexts({ data = {} }: KubeObject & { data?: unknown }): CertificateTexts {
  const text = (key: string): string => {
    const value = (data as Readonly<Record<string, unknown>>)[key];
    return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
  };
  const pair = ([cert, key]: readonly [string, string]): PemPair | undefined =>
    text(cert) === '' || text(key) === '' ? undefined : { certPem: text(cert), keyPem: text(key) };
  return {
    authority: pair(KEYS.authority),
    next: pair(KEYS.next),
    last: text(KEYS.last) === '' ? undefined : text(KEYS.last),
    serving: pair(KEYS.serving),
  };
}

/** The `data` of the Secret. */
export function certificateData({
  authority,
  next,
  last,
  serving,
}: CertificateTexts): Record<string, string> {
  const entries: [string, string][] = [];
  const add = ([cert, key]: readonly [string, string], pair: PemPair | undefined): void => {
    if (pair !== undefined) entries.push([cert, pair.certPem], [key, pair.keyPem]);
  };
  add(KEYS.authority, authority);
  add(KEYS.next, next);
  add(KEYS.serving, serving);
  if (last !== undefined) entries.push([KEYS.last, last]);
  return Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
}

/** All authorities that clients must trust, in PEM. */
export function trustedAuthorities({ authority, next, last }: CertificateTexts): string {
  return [authority?.certPem, next?.certPem, last].filter((pem) => pem !== undefined).join('');
}

/**
 * The facts of those certificates in the Secret that can be used.
 * @param host the name that the serving certificate must be valid for
 */
export function readUsableCertificates(texts: CertificateTexts, host: string): StoredCertificates {
  const authority = usable(texts.authority);
  const serving = usable(texts.serving);
  return {
    authority: factsOf(authority),
    next: factsOf(usable(texts.next)),
    last: factsOf(parse(texts.last)),
    serving:
      authority !== undefined && serving?.verify(authority.publicKey) === true && isFor(serving, host)
        ? factsOf(serving)
        : undefined,
  };
}

function isFor(certificate: X509Certificate, host: string): boolean {
  return (certificate.checkHost(host, { subject: 'never' }) ?? certificate.checkIP(host)) !== undefined;
}

function usable(pair: PemPair | undefined): X509Certificate | undefined {
  const certificate = parse(pair?.certPem);
  try {
    if (pair === undefined || certificate?.checkPrivateKey(createPrivateKey(pair.keyPem)) !== true)
      return undefined;
    return certificate;
  } catch {
    // A key that cannot be parsed counts as missing: the caller then creates another pair.
    return undefined;
  }
}

function parse(pem: string | undefined): X509Certificate | undefined {
  if (pem === undefined) return undefined;
  try {
    return new X509Certificate(pem);
  } catch {
    // A certificate that cannot be parsed counts as missing, too.
    return undefined;
  }
}

function factsOf(certificate: X509Certificate | undefined): CertificateFacts | undefined {
  if (certificate === undefined) return undefined;
  return { fromMs: Date.parse(certificate.validFrom), untilMs: Date.parse(certificate.validTo) };
}
