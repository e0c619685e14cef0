/** SHA-256 as lower-case hex; an argument because core has no crypto. */
export type Digest = (text: string) => string;

/**
 * Names one change exactly: this placement, from these clusters to those. Whoever releases it releases nothing else; if the
 * result moves on, the token no longer fits. Twelve hex digits.
 */
export function planToken(
  digest: Digest,
  placement: string,
  before: readonly string[],
  after: readonly string[],
): string {
  return digest(JSON.stringify([placement, [...before].sort(), [...after].sort()])).slice(0, 12);
}
