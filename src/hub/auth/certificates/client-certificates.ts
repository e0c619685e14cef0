import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { readCertificate } from './certificate-fields.ts';
import { readSubject } from './certificate-subject.ts';
import { BACKDATE_MS } from './certificate-validity.ts';
import type { CertifiedUser, ExternalCertificates, Holder } from './external-certificates.ts';

/** id-kp-clientAuth, RFC 5280 section 4.2.1.12. */
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** The certificate that each connection has shown; null for none. */
const shownCertificates = new WeakMap<object, X509Certificate | null>();

/**
 * The user that a client certificate represents in one cluster. TLS proves that the client has the
 * key. Whether the certificate is valid is checked here, with the authority of the requested
 * cluster, because one connection may be used for several clusters. Certificates are issued by an
 * authority directly, so there are no chains to follow.
 */
export class ClientCertificates {
  readonly #authorityPem: string;
  readonly #foreign: ExternalCertificates | undefined;
  #authority: X509Certificate | undefined;
  readonly #holders = new WeakMap<X509Certificate, Holder | undefined>();

  /**
   * @param authorityPem the certificate of the cluster's authority
   * @param foreign accepts certificates of other authorities
   */
  constructor(authorityPem: string, foreign?: ExternalCertificates) {
    this.#authorityPem = authorityPem;
    this.#foreign = foreign;
  }

  /**
   * The user of the connection: CN is the name, every O a group. Undefined without a certificate
   * that is valid now for this cluster.
   */
  userOf(socket: object, nowMs: number): CertifiedUser | undefined {
    const shown = certificateOf(socket);
    if (shown === null) return undefined;
    if (!this.#holders.has(shown)) this.#holders.set(shown, this.#holderOf(shown));
    const holder = this.#holders.get(shown) ?? this.#foreign?.holderOf(shown, nowMs);
    // Checked for each request, because a connection may live longer than its certificate.
    return holder !== undefined && holder.notBeforeMs <= nowMs && nowMs < holder.notAfterMs
      ? holder
      : undefined;
  }

  #holderOf(shown: X509Certificate): Holder | undefined {
    const authority = (this.#authority ??= new X509Certificate(this.#authorityPem));
    const { keyUsage } = shown as { readonly keyUsage?: readonly string[] };
    if (shown.ca || keyUsage?.includes(CLIENT_AUTH) !== true) return undefined;
    if (!shown.checkIssued(authority) || !shown.verify(authority.publicKey)) return undefined;
    const fields = readCertificate(shown.raw);
    const reading = fields === undefined ? undefined : readSubject(fields.subjectDer);
    if (reading?.kind !== 'subject') return undefined;
    const { commonName: name, organizations: groups } = reading.subject;
    const notBeforeMs = Date.parse(shown.validFrom);
    return {
      user: { name, groups },
      issuedAtMs: notBeforeMs + BACKDATE_MS,
      notBeforeMs,
      notAfterMs: Date.parse(shown.validTo),
    };
  }
}

function certificateOf(socket: object): X509Certificate | null {
  const known = shownCertificates.get(socket);
  if (known !== undefined) return known;
  const shown = (socket as Partial<TLSSocket>).getPeerX509Certificate?.() ?? null;
  shownCertificates.set(socket, shown);
  return shown;
}
