import { InputError } from '@berth/runtime/errors';
import { checkGitRef, formatGitRef, missingBranchHint, selectSemverTag } from './git-ref.ts';
import type { GitRef } from './git-repository.ts';

/** The part of a repository that is needed to resolve refs. */
export interface RefReader {
  /** Id of the commit that a full ref name or an id points to, with annotated tags peeled; undefined when there is none. */
  readonly commitOf: (name: string) => Promise<string | undefined>;
  readonly tagNames: () => Promise<readonly string[]>;
}

/**
 * Id of the commit that a ref points to.
 * @throws InputError `git.ref-not-found`
 */
export async function resolveGitRef(ref: GitRef, reader: RefReader): Promise<string> {
  checkGitRef(ref);
  const required = async (name: string, shown = formatGitRef(ref)): Promise<string> =>
    (await reader.commitOf(name)) ?? refuseRef(shown);
  switch (ref.type) {
    case 'head':
      return (await reader.commitOf('refs/berth/head')) ?? required('HEAD');
    case 'branch':
      return (
        (await reader.commitOf(`refs/heads/${ref.name}`)) ??
        refuseRef(formatGitRef(ref), missingBranchHint(ref, (await reader.tagNames()).includes(ref.name)))
      );
    case 'commit':
      return required(ref.id);
    case 'tag':
    case 'semver': {
      const tag = (await tagOfRef(ref, reader)) ?? refuseRef(formatGitRef(ref));
      return required(`refs/tags/${tag}`, `tag ${tag}`);
    }
  }
}

/** Name of the tag that a `tag` or `semver` ref selects now; undefined for other refs, and when no tag is in the range. */
export async function tagOfRef(
  ref: GitRef,
  reader: Pick<RefReader, 'tagNames'>,
): Promise<string | undefined> {
  if (ref.type === 'tag') return ref.name;
  return ref.type === 'semver' ? selectSemverTag(await reader.tagNames(), ref.range) : undefined;
}

/**
 * Refuses an empty revision, and one that git could read as an option or as several lines of input.
 * @throws InputError `git.ref-not-found`
 */
export function checkRevision(revision: string): void {
  if (revision === '' || revision.startsWith('-') || /[\0\n]/.test(revision)) refuseRef(revision);
}

export function refuseRef(subject: string, hint?: string): never {
  throw new InputError('not found in the repository, expected an existing branch, tag or commit', {
    code: 'git.ref-not-found',
    subject: `Git ref ${subject}`,
    hint,
  });
}
