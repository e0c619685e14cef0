import { X509Certificate } from 'node:crypto';
import { isKeyPair } from '@berth/kube/proxy/tls-material';
import type { HeldCertificate } from '../../rules/registration/plan-certificate.ts';

/** Parses a certificate together with its key. Undefined if one is missing, is not PEM, or does not belong to the other. */
export function readCertificate(
  certPem: string | undefined,
  keyPem: string | undefined,
): HeldCertificate | undefined {
  if (!certPem || !keyPem || !isKeyPair(certPem, keyPem)) return undefined;
  const certificate = new X509Certificate(certPem);
  // Nothing in it is escaped, unlike in `subject`.
  const subject = certificate.toLegacyObject().subject as unknown as Readonly<
    Record<string, string | readonly string[] | undefined>
  >;
  const texts = (field: string): readonly string[] => [subject[field] ?? []].flat();
  return {
    commonName: texts('CN').join(),
    organizations: texts('O'),
    organizationalUnits: texts('OU'),
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
  };
}
