import type { Condition } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import { RELEASE_ANNOTATION } from './publish-annotations.ts';
import { HELD_CONDITION } from '@berth/placement/explain/verdict/names-on-placements';

/** SHA-256 as lower-case hex. Callers pass the function in, because core does not import crypto. */
export type Digest = (text: string) => string;

/**
 * Identifies the change of one placement from one list of clusters to another. A release approves
 * only this change. If the result changes, the code no longer matches. Twelve hexadecimal digits.
 */
export function approvalCode(
  digest: Digest,
  placement: string,
  before: readonly string[],
  after: readonly string[],
): string {
  return digest(JSON.stringify([placement, [...before].sort(), [...after].sort()])).slice(0, 12);
}

/** A message of a hold that can be approved ends with a remedy, which begins so. */
export const REMEDY_BEGINS = 'To approve this change,';

const REMEDY = new RegExp(`(?:The last decision stays published\\. )?${REMEDY_BEGINS} [^]*$`);

/** A message of a hold, as it is on the hub, in two parts: what is held, and how it is approved. */
export function splitRemedy(message: string): readonly [problem: string, remedy: string | undefined] {
  const at = message.search(REMEDY);
  return at < 0 ? [message, undefined] : [message.slice(0, at).trimEnd(), message.slice(at)];
}

/**
 * The approval code of a change that may have been released before. Each release counts once: a repeated
 * change gets a new code, so a release that is still in Git does not approve it again.
 */
export function unspentCode(digest: Digest, code: string, spent: readonly string[] = []): string {
  let unspent = code;
  while (spent.includes(unspent)) unspent = digest(JSON.stringify(['again', unspent])).slice(0, 12);
  return unspent;
}

/**
 * One code for several held changes: it approves all of them, and is another one if any of them changes. The code of a
 * single change is its own. Undefined if there is none.
 * @param codes in any order
 */
export function jointCode(digest: Digest, codes: readonly string[]): string | undefined {
  const [first, ...others] = [...new Set(codes)].sort();
  if (first === undefined || others.length === 0) return first;
  return digest(JSON.stringify(['all of', first, ...others])).slice(0, 12);
}

const MAX_SPENT = 32;

/** The codes of the last releases, plus the code of a new release if there is one. */
export function addSpentCode(
  spent: readonly string[] | undefined,
  released: string | undefined,
): readonly string[] | undefined {
  return released === undefined ? spent : [...(spent ?? []), released].slice(-MAX_SPENT);
}

const CODE_IN_MESSAGE = new RegExp(`${RELEASE_ANNOTATION}: "([0-9a-f]{12})"`);

/** The approval code that the message of a hold names. Undefined for a hold that ends by itself. */
export function holdCode(message: string): string | undefined {
  return CODE_IN_MESSAGE.exec(message)?.[1];
}

/**
 * The condition that says that a change of the placement is held. Undefined when nothing is held.
 */
export function activeHold({ status }: Pick<Placement, 'status'>): Condition | undefined {
  return status?.conditions?.find((one) => one.type === HELD_CONDITION && one.status === 'True');
}
