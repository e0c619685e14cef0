/**
 * Certificates are valid from this long before they are issued, because clocks of clients may be
 * behind.
 */
export const BACKDATE_MS = 5 * 60_000;
