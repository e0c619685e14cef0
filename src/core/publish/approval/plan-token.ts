/** SHA-256 as lower-case hex; an argument because core has no crypto. */
export type Digest = (text: string) => string;

/**
 * Identifies one change of one placement, from a list of clusters to another. A release approves
 * only this change; if the result changes, the token no longer matches. Twelve hex digits.
 */
export function planToken(
  digest: Digest,
  placement: string,
  before: readonly string[],
  after: readonly string[],
): string {
  return digest(JSON.stringify([placement, [...before].sort(), [...after].sort()])).slice(0, 12);
}

/**
 * A release counts once: a change that was released before gets another token, so that a release that is still in Git
 * does not approve the same accident a second time.
 */
export function unspentToken(digest: Digest, token: string, spent: readonly string[] = []): string {
  let unspent = token;
  while (spent.includes(unspent)) unspent = digest(JSON.stringify(['again', unspent])).slice(0, 12);
  return unspent;
}

const MAX_SPENT = 32;

/** The tokens of the last releases, with that of a new release if there is one. */
export function addSpentToken(
  spent: readonly string[] | undefined,
  released: string | undefined,
): readonly string[] | undefined {
  return released === undefined ? spent : [...(spent ?? []), released].slice(-MAX_SPENT);
}
