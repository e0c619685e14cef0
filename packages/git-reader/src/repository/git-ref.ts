import { InputError } from '@berth/runtime/errors';
import type SemVer from 'semver/classes/semver.js';
import parseVersion from 'semver/functions/parse.js';
import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import type { GitRef } from './git-repository.ts';

/**
 * Checks a ref before it is passed to git.
 * @throws InputError `git.bad-ref`
 */
export function checkGitRef(ref: GitRef): GitRef {
  const problem = gitRefProblem(ref);
  if (problem === undefined) return ref;
  throw new InputError(problem, { code: 'git.bad-ref', subject: 'Git ref' });
}

const COMMIT_ID = /^[0-9a-f]{40}$|^[0-9a-f]{64}$/;
/**
 * Characters that git check-ref-format forbids, and a leading dash, which git would parse as an
 * option.
 */
const FORBIDDEN = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|\/\.|\.$|\/$|\.lock(?:\/|$)|^@$/;

/** What is wrong with a ref; undefined if nothing is. */
export function gitRefProblem(ref: GitRef): string | undefined {
  switch (ref.type) {
    case 'head':
      return undefined;
    case 'branch':
    case 'tag':
      return FORBIDDEN.test(ref.name) || ref.name === '' || ref.name.length > 255
        ? expected(ref.name, `the plain name of a ${ref.type}, such as main or release/1.2`)
        : undefined;
    case 'commit':
      return COMMIT_ID.test(ref.id)
        ? undefined
        : expected(ref.id, 'a full commit id of 40 or 64 hexadecimal digits');
    case 'semver':
      return validRange(ref.range) === null
        ? expected(ref.range, 'a semantic version range such as ^1.2 or >=1.0 <2')
        : undefined;
  }
}

/**
 * Reads a ref as users and CI services write it: `main`, `refs/heads/main`, `refs/tags/v1`, `HEAD`, a full commit id,
 * `branch:NAME`, `tag:NAME`, `semver:RANGE` or `commit:ID`. A plain name is that of a branch.
 * @returns the ref, or what is wrong
 */
export function parseGitRef(text: string): GitRef | { readonly problem: string } {
  const [, type, rest = ''] = /^(branch|tag|semver|commit):(.*)$/s.exec(text) ?? [];
  if (type !== undefined) return gitRefOfType(type as Exclude<GitRef['type'], 'head'>, rest);
  if (COMMIT_ID.test(text)) return { type: 'commit', id: text };
  if (text.startsWith('refs/tags/')) return gitRefOfType('tag', text);
  return gitRefOfType('branch', text);
}

/**
 * Reads the name of a branch or tag, the range or the id of a ref whose type is given. Full names and `HEAD` are taken.
 * @returns the ref, or what is wrong
 */
export function gitRefOfType(
  type: Exclude<GitRef['type'], 'head'>,
  text: string,
): GitRef | { readonly problem: string } {
  const ref = typedRef(type, text);
  const problem = 'problem' in ref ? ref.problem : gitRefProblem(ref);
  return problem === undefined ? ref : { problem };
}

const FULL_NAMES = { branch: 'refs/heads/', tag: 'refs/tags/' } as const;

function typedRef(
  type: Exclude<GitRef['type'], 'head'>,
  text: string,
): GitRef | { readonly problem: string } {
  if (type === 'commit') return { type, id: text };
  if (type === 'semver') return { type, range: text };
  if (type === 'branch' && text === 'HEAD') return { type: 'head' };
  const prefix = FULL_NAMES[type];
  if (text.startsWith(prefix)) return { type, name: text.slice(prefix.length) };
  const other = type === 'branch' ? 'tag' : 'branch';
  if (text.startsWith(FULL_NAMES[other]))
    return { problem: `${expected(text, `a ${type}`)}: it is a ${other}` };
  if (text.startsWith('refs/'))
    return { problem: expected(text, 'a branch or a tag: refs/heads/NAME or refs/tags/NAME') };
  if (COMMIT_ID.test(text)) return { problem: `${expected(text, `a ${type}`)}: it is the id of a commit` };
  return { type, name: text };
}

function expected(got: string, what: string): string {
  return `got ${JSON.stringify(got)}, expected ${what}`;
}

/**
 * What to write if there is no such branch; undefined for other refs.
 * @param isTag whether there is a tag with this name
 */
export function missingBranchHint(ref: GitRef, isTag: boolean): string | undefined {
  if (ref.type !== 'branch') return undefined;
  if (isTag)
    return `there is a tag ${ref.name}: write tag:${ref.name}, in the settings file {tag: ${ref.name}}`;
  return /^[0-9a-f]{7,63}$/.test(ref.name)
    ? 'if it is a short commit id, write commit:ID with the full id'
    : undefined;
}

/** What to write if there is no such branch, and it is unknown whether there is such a tag. */
export function otherKindsHint({ type }: GitRef): string | undefined {
  return type === 'branch' ? 'a tag is written tag:NAME, and a commit commit:ID with its full id' : undefined;
}

/** A short text for messages: `branch main`. */
export function formatGitRef(ref: GitRef): string {
  switch (ref.type) {
    case 'head':
      return 'the default branch';
    case 'branch':
    case 'tag':
      return `${ref.type} ${ref.name}`;
    case 'semver':
      return `a tag within ${ref.range}`;
    case 'commit':
      return `commit ${ref.id}`;
  }
}

/**
 * Whether a push to a full ref name (`refs/heads/main`) may change the commit that a source
 * follows.
 */
export function mayAffectRef(ref: GitRef, pushed: string): boolean {
  switch (ref.type) {
    case 'branch':
      return pushed === `refs/heads/${ref.name}`;
    case 'tag':
      return pushed === `refs/tags/${ref.name}`;
    case 'semver':
      return pushed.startsWith('refs/tags/');
    case 'head':
      return pushed.startsWith('refs/heads/');
    case 'commit':
      return true;
  }
}

/** The tag with the highest version in the range. Pre-releases count only if the range names one. */
export function selectSemverTag(tags: readonly string[], range: string): string | undefined {
  let best: { tag: string; version: SemVer } | undefined;
  for (const tag of tags) {
    const version = parseVersion(tag.startsWith('v') ? tag.slice(1) : tag);
    if (version === null || !satisfies(version, range)) continue;
    if (best === undefined || version.compare(best.version) > 0) best = { tag, version };
  }
  return best?.tag;
}

/** The refspecs to fetch, with their local names. */
export function refspecsOf(ref: GitRef): string[] {
  switch (ref.type) {
    case 'head':
      return ['+HEAD:refs/berth/head'];
    case 'branch':
      return [`+refs/heads/${ref.name}:refs/heads/${ref.name}`];
    case 'tag':
      return [`+refs/tags/${ref.name}:refs/tags/${ref.name}`];
    case 'semver':
      return ['+refs/tags/*:refs/tags/*'];
    case 'commit':
      return [`+${ref.id}:refs/berth/pinned/${ref.id}`];
  }
}

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
