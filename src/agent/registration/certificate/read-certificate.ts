import { X509Certificate } from 'node:crypto';
import { isKeyPair } from '../../../adapters/kube/proxy/tls-material.ts';
import type { HeldCertificate } from '../../../core/registration/agent/plan-certificate.ts';

/** Reads a certificate for its key; undefined when either is missing or no PEM, or they are not of each other. */
export function readCertificate(
  certPem: string | undefined,
  keyPem: string | undefined,
): HeldCertificate | undefined {
  if (!certPem || !keyPem || !isKeyPair(certPem, keyPem)) return undefined;
  const certificate = new X509Certificate(certPem);
  // Unlike `subject` nothing in it is escaped.
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
