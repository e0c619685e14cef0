import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { readCertificate } from '@berth/kube/x509/certificate-fields';
import { readSubject } from '@berth/kube/x509/certificate-subject';
import { BACKDATE_MS } from '@berth/kube/x509/self-signed-authority';
import type { CertifiedUser, ExternalCertificates, Holder } from './external-certificates.ts';

/** id-kp-clientAuth, RFC 5280 section 4.2.1.12. */
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** The certificate that the client of each connection presented; null for none. */
const presentedCertificates = new WeakMap<object, X509Certificate | null>();

/**
 * The user that a client certificate represents in one cluster. TLS proves that the client has the
 * key. Whether the certificate is valid is checked here, with the authority of the requested
 * cluster, because one connection may be used for several clusters. Certificates are issued by an
 * authority directly, so there are no chains to follow.
 */
export class ClientCertificates {
  readonly #authorityPem: string;
  readonly #external: ExternalCertificates | undefined;
  #authority: X509Certificate | undefined;
  readonly #holders = new WeakMap<X509Certificate, Holder | undefined>();

  /**
   * @param authorityPem the certificate of the cluster's authority
   * @param external accepts certificates of other authorities
   */
  constructor(authorityPem: string, external?: ExternalCertificates) {
    this.#authorityPem = authorityPem;
    this.#external = external;
  }

  /**
   * The user of the connection: CN is the name, every O a group. Undefined without a certificate
   * that is valid now for this cluster.
   */
  userOf(socket: object, nowMs: number): CertifiedUser | undefined {
    const presented = certificateOf(socket);
    if (presented === null) return undefined;
    if (!this.#holders.has(presented)) this.#holders.set(presented, this.#holderOf(presented));
    const holder = this.#holders.get(presented) ?? this.#external?.holderOf(presented, nowMs);
    // Checked for each request, because a connection may live longer than its certificate.
    return holder !== undefined && holder.notBeforeMs <= nowMs && nowMs < holder.notAfterMs
      ? holder
      : undefined;
  }

  #holderOf(presented: X509Certificate): Holder | undefined {
    const authority = (this.#authority ??= new X509Certificate(this.#authorityPem));
    const { keyUsage } = presented as { readonly keyUsage?: readonly string[] };
    if (presented.ca || keyUsage?.includes(CLIENT_AUTH) !== true) return undefined;
    if (!presented.checkIssued(authority) || !presented.verify(authority.publicKey)) return undefined;
    const fields = readCertificate(presented.raw);
    const reading = fields === undefined ? undefined : readSubject(fields.subjectDer);
    if (reading?.kind !== 'subject') return undefined;
    const { commonName: name, organizations: groups } = reading.subject;
    const notBeforeMs = Date.parse(presented.validFrom);
    return {
      user: { name, groups },
      issuedAtMs: notBeforeMs + BACKDATE_MS,
      notBeforeMs,
      notAfterMs: Date.parse(presented.validTo),
    };
  }
}

function certificateOf(socket: object): X509Certificate | null {
  const known = presentedCertificates.get(socket);
  if (known !== undefined) return known;
  const presented = (socket as Partial<TLSSocket>).getPeerX509Certificate?.() ?? null;
  presentedCertificates.set(socket, presented);
  return presented;
}
