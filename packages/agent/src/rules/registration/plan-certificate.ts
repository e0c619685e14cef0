import { agentGroups, type AgentIdentity, agentUser } from '@berth/ocm/registration/names';

/** Whom a client certificate is for. The order of the organizations and of the units does not matter. */
export interface ClientSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly organizationalUnits: readonly string[];
}

/**
 * The fields of a client certificate that decide whether it must be renewed. Times are milliseconds since the epoch.
 */
export interface HeldCertificate extends ClientSubject {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export type CertificatePlan =
  | { readonly kind: 'keep'; readonly renewAtMs: number }
  | { readonly kind: 'request'; readonly why: 'missing' | 'expired' | 'subject' | 'renewal' };

/** The share of the lifetime of a certificate that is left when it is renewed. */
const RENEWAL = { leastShare: 0.2, jitter: 0.05 };

/**
 * The share of its lifetime that a certificate has left when it is renewed.
 * @param random uniform in [0, 1)
 */
export function renewalShare(random: () => number): number {
  return RENEWAL.leastShare + RENEWAL.jitter * random();
}

/** The subject of the certificate of a cluster's agent. */
export function agentSubject(identity: AgentIdentity): ClientSubject {
  return {
    commonName: agentUser(identity),
    organizations: agentGroups(identity.cluster),
    organizationalUnits: [],
  };
}

/**
 * Whether an agent needs another certificate, and why.
 * Source: open-cluster-management.io/ocm `pkg/registration/register/csr/certificate.go` (IsCertificateValid) and `csr.go`
 * (shouldCreateCSR). There the share is random at each check. Here it is random once for each certificate, so that the
 * time is known.
 * @param held undefined if there is none, or if its key is missing
 */
export function planCertificate(
  held: HeldCertificate | undefined,
  given: { readonly subject: ClientSubject; readonly nowMs: number; readonly share: number },
): CertificatePlan {
  const { subject, nowMs, share } = given;
  if (held === undefined) return { kind: 'request', why: 'missing' };
  if (nowMs >= held.notAfterMs) return { kind: 'request', why: 'expired' };
  if (!isOf(subject, held)) return { kind: 'request', why: 'subject' };
  const renewAtMs = held.notAfterMs - share * (held.notAfterMs - held.notBeforeMs);
  return nowMs >= renewAtMs ? { kind: 'request', why: 'renewal' } : { kind: 'keep', renewAtMs };
}

/** Whether a certificate has this subject. */
export function isOf(subject: ClientSubject, held: ClientSubject): boolean {
  return (
    held.commonName === subject.commonName &&
    sameSet(held.organizations, subject.organizations) &&
    sameSet(held.organizationalUnits, subject.organizationalUnits)
  );
}

function sameSet(left: readonly string[], right: readonly string[]): boolean {
  const [a, b] = [new Set(left), new Set(right)];
  return a.size === b.size && [...a].every((one) => b.has(one));
}

/** A time as Go prints it, e.g. `2023-05-28 14:08:57 +0000 UTC`. Certificates have a precision of one second. */
export function goTime(epochMs: number): string {
  const [date = '', time = ''] = new Date(epochMs).toISOString().split('T');
  return `${date} ${time.slice(0, 8)} +0000 UTC`;
}
