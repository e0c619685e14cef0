/** Clocks of clients may be a little behind: every certificate is valid from so long before it was issued. */
export const BACKDATE_MS = 5 * 60_000;
