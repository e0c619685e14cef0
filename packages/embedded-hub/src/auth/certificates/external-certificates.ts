import { X509Certificate } from 'node:crypto';
import { readCertificate } from '@berth/kube/x509/certificate-fields';
import { readSubject } from '@berth/kube/x509/certificate-subject';
import { InputError } from '@berth/runtime/errors';
import { SecretFile } from '@berth/runtime/files/secret-file';
import type { Logger } from '@berth/runtime/logger';
import type { UserInfo } from '../../wire/user-info.ts';

/** id-kp-clientAuth and anyExtendedKeyUsage, RFC 5280 section 4.2.1.12. */
const CLIENT_USAGES = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

const NONE: readonly X509Certificate[] = [];

/** The user that a certificate represents. */
export interface CertifiedUser {
  readonly user: UserInfo;
  /** To the second. */
  readonly issuedAtMs: number;
}

/** The user of a certificate, valid from `notBeforeMs` until before `notAfterMs`. */
export interface Holder extends CertifiedUser {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/**
 * Client certificates of authorities other than the hub's. They are verified as Go does: a
 * certificate without extended key usages is valid for every use, and key usages
 * (`digitalSignature`) are ignored. Intermediate authorities are not supported. Source: Go's
 * crypto/x509 `Certificate.Verify`; apiserver pkg/authentication/request/x509/x509.go.
 */
export class ExternalCertificates {
  readonly #file: ClientCaFile;
  #authorities: readonly X509Certificate[] = [];
  #holders = new WeakMap<X509Certificate, Holder | 'nobody'>();

  constructor(file: ClientCaFile) {
    this.#file = file;
  }

  /** Undefined when no authority of the file issued it. */
  holderOf(presented: X509Certificate, nowMs: number): Holder | undefined {
    const authorities = this.#file.authorities(nowMs);
    if (authorities !== this.#authorities) {
      this.#authorities = authorities;
      this.#holders = new WeakMap();
    }
    let holder = this.#holders.get(presented);
    if (holder === undefined) {
      holder = read(presented, authorities) ?? 'nobody';
      this.#holders.set(presented, holder);
    }
    return holder === 'nobody' ? undefined : holder;
  }
}

function read(presented: X509Certificate, authorities: readonly X509Certificate[]): Holder | undefined {
  const { keyUsage: usages } = presented as { readonly keyUsage?: readonly string[] };
  if (usages !== undefined && !usages.some((usage) => CLIENT_USAGES.includes(usage))) return undefined;
  const issuer = authorities.find((authority) => isIssuer(authority, presented));
  const fields = issuer === undefined ? undefined : readCertificate(presented.raw);
  const reading = fields === undefined ? undefined : readSubject(fields.subjectDer);
  if (issuer === undefined || reading?.kind !== 'subject') return undefined;
  const { commonName: name, organizations: groups } = reading.subject;
  const notBeforeMs = Date.parse(presented.validFrom);
  return {
    user: { name, groups },
    issuedAtMs: notBeforeMs,
    notBeforeMs,
    // Certificates of an expired authority are rejected.
    notAfterMs: Math.min(Date.parse(presented.validTo), Date.parse(issuer.validTo)),
  };
}

const isIssuer = (authority: X509Certificate, presented: X509Certificate): boolean =>
  authority.ca && presented.checkIssued(authority) && presented.verify(authority.publicKey);

/**
 * Every certificate of a PEM file; other blocks are left out, as Go does.
 * @throws InputError when there is none, or a broken one
 */
export function parseCertificates(file: string, text: string): readonly X509Certificate[] {
  const fileError = (problem: string, cause?: unknown): InputError =>
    new InputError(problem, { code: 'hub.certificate-file', subject: file, cause });
  const blocks = text.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0) throw fileError('contains no certificate, expected PEM with one or more');
  return blocks.map((block) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw fileError('contains a certificate that cannot be read', error);
    }
  });
}

/**
 * The authorities of `--client-ca-file`. The file is read again when it changes. While it cannot be
 * read, certificates of these authorities are rejected.
 */
export class ClientCaFile {
  readonly #file: SecretFile<readonly X509Certificate[]>;

  /** @throws InputError when the file cannot be used */
  constructor(path: string, log: Logger) {
    this.#file = new SecretFile({
      file: path,
      what: 'authorities of clients',
      without: 'no certificate that they issued is valid',
      parse: (text) => parseCertificates(path, text),
      log,
    });
    if (this.#file.problem !== undefined) throw this.#file.problem;
  }

  /** Returns a new list after each change of the file. */
  authorities(nowMs: number): readonly X509Certificate[] {
    return this.#file.current(nowMs) ?? NONE;
  }
}
