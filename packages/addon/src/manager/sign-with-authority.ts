import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { errorText, TransientError } from '@berth/runtime/errors';
import type { SignedContent } from '../rules/registration/judge-addon-request.ts';

/** An authority as PEM: its certificate, and its key, which is RSA, or ECDSA on P-256, P-384 or P-521. */
export interface AuthorityPair {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface Signing {
  /** Default: the time of the machine. */
  readonly nowMs?: number | undefined;
  /** How long the certificate is valid, at most as long as the authority. Default: 24 hours; the cluster's agent asks again before. */
  readonly lifetimeMs?: number | undefined;
  /** Where the authority is from, for the reader of an error. */
  readonly of?: { readonly subject: string; readonly hint: string } | undefined;
}

/** As upstream. */
const LIFETIME_MS = 24 * 3_600_000;
const AUTHORITY = { subject: 'the authority of the add-on', hint: 'give its certificate and its key as PEM' };

/**
 * A certificate for both ends of a connection, with the subject, the DNS names and the key that a request asks for.
 * @returns PEM
 * @throws TransientError when the authority has expired, or its key does not fit: somebody makes or renews it
 */
export async function signWithAuthority(
  pair: AuthorityPair,
  { commonName, organizations, organizationalUnits, publicKeyDer, dnsNames: hosts = [] }: SignedContent,
  { nowMs = systemClock.now(), lifetimeMs = LIFETIME_MS, of = AUTHORITY }: Signing = {},
): Promise<string> {
  const unusable = (why: string): TransientError =>
    new TransientError(`cannot sign for an add-on: ${why}`, { code: 'addon.signing-ca', ...of });
  const authority = await CertificateAuthority.load(pair).catch((error: unknown) => {
    throw unusable(errorText(error));
  });
  const expiresAtMs = await authority.expiresAtMs();
  if (expiresAtMs <= nowMs) throw unusable(`its authority expired at ${new Date(expiresAtMs).toISOString()}`);
  const subject = { commonName, organizations };
  return authority.signPeerKey({ subject, organizationalUnits, publicKeyDer, hosts, lifetimeMs }, nowMs);
}
