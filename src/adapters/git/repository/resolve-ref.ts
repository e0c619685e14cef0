import { InputError } from '../../../core/errors.ts';
import { checkGitRef, formatGitRef, selectSemverTag } from './git-ref.ts';
import type { GitRef } from './git-repository.ts';

/** What resolving refs needs from a repository. */
export interface RefReader {
  /** The commit that a full ref name or id leads to, through annotated tags. */
  readonly commitOf: (name: string) => Promise<string | undefined>;
  readonly tagNames: () => Promise<readonly string[]>;
}

/** The commit that a ref points to. InputError `git.ref-not-found`. */
export async function resolveGitRef(ref: GitRef, reader: RefReader): Promise<string> {
  checkGitRef(ref);
  const required = async (name: string, shown = formatGitRef(ref)): Promise<string> =>
    (await reader.commitOf(name)) ?? refuseRef(shown);
  switch (ref.type) {
    case 'head':
      return (await reader.commitOf('refs/berth/head')) ?? required('HEAD');
    case 'branch':
      return required(`refs/heads/${ref.name}`);
    case 'commit':
      return required(ref.id);
    case 'tag':
    case 'semver': {
      const tag = (await tagOfRef(ref, reader)) ?? refuseRef(formatGitRef(ref));
      return required(`refs/tags/${tag}`, `tag ${tag}`);
    }
  }
}

/** Name of the tag that a ref leads to now; undefined when it is no tag, or when there is none. */
export async function tagOfRef(
  ref: GitRef,
  reader: Pick<RefReader, 'tagNames'>,
): Promise<string | undefined> {
  if (ref.type === 'tag') return ref.name;
  return ref.type === 'semver' ? selectSemverTag(await reader.tagNames(), ref.range) : undefined;
}

/** Refuses revision texts that git could take for an option or for two. InputError `git.ref-not-found`. */
export function checkRevision(revision: string): void {
  if (revision === '' || revision.startsWith('-') || /[\0\n]/.test(revision)) refuseRef(revision);
}

export function refuseRef(subject: string): never {
  throw new InputError('not found in the repository, expected an existing branch, tag or commit', {
    code: 'git.ref-not-found',
    subject: `Git ref ${subject}`,
  });
}
