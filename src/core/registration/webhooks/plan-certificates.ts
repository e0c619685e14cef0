const DAY_MS = 86_400_000;
/** An authority is of use for ten years; the next one comes a year before its end. */
const AUTHORITY_RENEWAL_MS = 365 * DAY_MS;
/** By then the configurations name both authorities, and every replica has read the Secret. */
const CHANGE_OVER_MS = DAY_MS;
/** How long a serving certificate is valid, and how long before its end it is renewed. */
export const SERVING_LIFETIME_MS = 90 * DAY_MS;
const SERVING_RENEWAL_MS = 30 * DAY_MS;

/** What is known of a certificate that can be used: it and its key fit. Times in milliseconds. */
export interface CertificateFacts {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What the Secret of the webhooks holds; undefined: absent, or unusable. */
export interface StoredCertificates {
  /** Signs serving certificates. */
  readonly authority: CertificateFacts | undefined;
  /** Is trusted already, and signs later. */
  readonly next: CertificateFacts | undefined;
  /** Signed before, and is still trusted. */
  readonly last: CertificateFacts | undefined;
  /** Signed by `authority`, for all hosts that are wanted. */
  readonly serving: CertificateFacts | undefined;
}

export type CertificateStep =
  /** A new authority in place of all that is there: what it signed is trusted no more. */
  | 'begin'
  /** A new authority beside the one that signs. */
  | 'announce'
  /** The announced authority signs from now on. */
  | 'change-over'
  | 'forget-last'
  | 'issue';

/** The next step, one at a time; undefined when nothing has to be done. */
export function planCertificates(stock: StoredCertificates, nowMs: number): CertificateStep | undefined {
  const { authority, next, last, serving } = stock;
  const isOver = ({ untilMs }: CertificateFacts): boolean => untilMs <= nowMs;
  if (authority === undefined || isOver(authority)) return next === undefined ? 'begin' : 'change-over';
  if (next === undefined && authority.untilMs - nowMs < AUTHORITY_RENEWAL_MS) return 'announce';
  if (next !== undefined && nowMs - next.fromMs >= CHANGE_OVER_MS) return 'change-over';
  // An authority signs one day after it was made: on the next day its predecessor is not needed.
  if (last !== undefined && (isOver(last) || nowMs - authority.fromMs >= 2 * CHANGE_OVER_MS))
    return 'forget-last';
  if (serving === undefined || serving.untilMs - nowMs < SERVING_RENEWAL_MS) return 'issue';
  return undefined;
}
