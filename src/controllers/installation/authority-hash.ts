import { X509Certificate } from 'node:crypto';
import { sha256 } from '@berth/runtime/sha256';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates in a PEM text. Blocks that cannot be parsed are skipped. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  return (pem.match(CERTIFICATE) ?? []).flatMap((block) => readable(block));
}

/** Parses certificates in DER. Those that cannot be parsed are skipped. */
export function certificatesOf(ders: readonly Uint8Array[]): readonly X509Certificate[] {
  return ders.flatMap((der) => readable(der));
}

/** Whether the certificate may sign others. */
export function isAuthority(certificate: X509Certificate): boolean {
  return certificate.ca || certificate.issuer === certificate.subject;
}

/**
 * `sha256:` and the SHA-256 of the SubjectPublicKeyInfo (DER), in lower-case hexadecimal.
 * Source: kubernetes/kubernetes `cmd/kubeadm/app/util/pubkeypin/pubkeypin.go` (Hash).
 */
export function authorityHash({ publicKey }: X509Certificate): string {
  return `sha256:${sha256(publicKey.export({ type: 'spki', format: 'der' }))}`;
}

/** The hashes of the authorities in a PEM text, without duplicates. */
export function authorityHashes(pem: string): readonly string[] {
  return [...new Set(certificatesIn(pem).filter(isAuthority).map(authorityHash))];
}

function readable(certificate: string | Uint8Array): readonly X509Certificate[] {
  try {
    return [new X509Certificate(certificate)];
  } catch {
    return [];
  }
}
