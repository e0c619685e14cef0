import type { ResponseFields } from '../request/response-fields.ts';

/** The text if it is the id of a commit. Accepts only full ids: a short one (Bitbucket sends 12 digits) would be a guess. */
export function commitId(text: string | undefined): string | undefined {
  return text !== undefined && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text) && !/^0+$/.test(text)
    ? text
    : undefined;
}

/**
 * For forges whose deliveries may report several refs: the ref, if it is the only one.
 * @param list the path of the list of changes in the payload
 * @param refPath the path of the ref in a change
 */
export function onlyRef(
  payload: ResponseFields,
  list: readonly string[],
  refPath: readonly string[],
): string | undefined {
  return payload.at(...list, 1) === undefined ? payload.text(...list, 0, ...refPath) : undefined;
}

/** The name of a branch from its full ref. Another text is returned unchanged. */
export function branchOfRef(ref: string | undefined): string | undefined {
  return ref?.replace(/^refs\/heads\//, '');
}
