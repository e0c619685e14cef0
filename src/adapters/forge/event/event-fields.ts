import type { ResponseFields } from '../request/response-fields.ts';

/** Accepts only full ids. A short one (Bitbucket sends 12 digits) would be a guess. */
export function commitId(text: string | undefined): string | undefined {
  return text !== undefined && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text) && !/^0+$/.test(text)
    ? text
    : undefined;
}

/** For forges whose deliveries may report several refs: the ref, if it is the only one. */
export function onlyRef(
  payload: ResponseFields,
  list: readonly string[],
  place: readonly string[],
): string | undefined {
  return payload.at(...list, 1) === undefined ? payload.text(...list, 0, ...place) : undefined;
}

export function branchOfRef(ref: string | undefined): string | undefined {
  return ref?.replace(/^refs\/heads\//, '');
}
