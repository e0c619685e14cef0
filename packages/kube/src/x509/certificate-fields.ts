import { DER_TAG, readNested } from './der.ts';

/** The parts of a certificate that say who it is for, as they are in its bytes. */
export interface CertificateFields {
  /** DER of the Name. */
  readonly subjectDer: Buffer;
  /** DER of the SubjectPublicKeyInfo. */
  readonly publicKeyDer: Buffer;
}

/**
 * Finds subject and key in the DER of a certificate (RFC 5280, section 4.1); undefined when it is
 * no certificate of version 3. Independent of the libraries that issue certificates and check
 * signatures, so that it can verify them.
 */
export function readCertificate(der: Buffer): CertificateFields | undefined {
  const [body] = readNested(der, DER_TAG.sequence) ?? [];
  const [version, serial, , issuer, validity, subject, key] =
    body === undefined ? [] : (readNested(body.whole, DER_TAG.sequence) ?? []);
  if (version?.tag !== DER_TAG.context0 || serial?.tag !== DER_TAG.integer) return undefined;
  for (const part of [issuer, validity, subject, key]) if (part?.tag !== DER_TAG.sequence) return undefined;
  if (subject === undefined || key === undefined) return undefined;
  return { subjectDer: subject.whole, publicKeyDer: key.whole };
}
