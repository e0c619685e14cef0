const DAY_MS = 86_400_000;
/** An authority is valid for ten years. The next one is created a year before it expires. */
const AUTHORITY_RENEWAL_MS = 365 * DAY_MS;
/** After this time the configurations contain both authorities, and every replica has read the Secret. */
const CHANGE_OVER_MS = DAY_MS;
/** The lifetime of a serving certificate, and how long before its expiry it is renewed. */
export const SERVING_LIFETIME_MS = 90 * DAY_MS;
const SERVING_RENEWAL_MS = 30 * DAY_MS;

/** The known fields of a usable certificate: it matches its key. Times in milliseconds. */
export interface CertificateFacts {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The content of the Secret of the webhooks; undefined if absent or unusable. */
export interface StoredCertificates {
  /** Signs serving certificates. */
  readonly authority: CertificateFacts | undefined;
  /** Already trusted, and signs later. */
  readonly next: CertificateFacts | undefined;
  /** Signed earlier, and is still trusted. */
  readonly last: CertificateFacts | undefined;
  /** Signed by `authority`, for all wanted hosts. */
  readonly serving: CertificateFacts | undefined;
}

export type CertificateStep =
  /** A new authority replaces all existing ones. Certificates that those signed are no longer trusted. */
  | 'begin'
  /** A new authority in addition to the signing one. */
  | 'announce'
  /** The announced authority signs from now on. */
  | 'change-over'
  /** The previous authority is removed. It is no longer trusted. */
  | 'forget-last'
  /** A new serving certificate. */
  | 'issue';

/** The next step, one at a time; undefined if there is none. */
export function planCertificates(stored: StoredCertificates, nowMs: number): CertificateStep | undefined {
  const { authority, next, last, serving } = stored;
  const isExpired = ({ untilMs }: CertificateFacts): boolean => untilMs <= nowMs;
  if (authority === undefined || isExpired(authority)) return next === undefined ? 'begin' : 'change-over';
  if (next === undefined && authority.untilMs - nowMs < AUTHORITY_RENEWAL_MS) return 'announce';
  if (next !== undefined && nowMs - next.fromMs >= CHANGE_OVER_MS) return 'change-over';
  // An authority signs from one day after its creation. One day later its predecessor is not needed.
  if (last !== undefined && (isExpired(last) || nowMs - authority.fromMs >= 2 * CHANGE_OVER_MS))
    return 'forget-last';
  if (serving === undefined || serving.untilMs - nowMs < SERVING_RENEWAL_MS) return 'issue';
  return undefined;
}
