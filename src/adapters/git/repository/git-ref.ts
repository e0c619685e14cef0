import type SemVer from 'semver/classes/semver.js';
import parseVersion from 'semver/functions/parse.js';
import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { InputError } from '../../../core/errors.ts';
import type { GitRef } from './git-repository.ts';

const COMMIT_ID = /^[0-9a-f]{40}$|^[0-9a-f]{64}$/;
/**
 * Characters that git check-ref-format forbids, and a leading dash, which git would parse as an
 * option.
 */
const FORBIDDEN = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|\/\.|\.$|\/$|\.lock(?:\/|$)|^@$/;

/**
 * Checks a ref before it is passed to git.
 * @throws InputError `git.bad-ref`
 */
export function checkGitRef(ref: GitRef): GitRef {
  switch (ref.type) {
    case 'head':
      return ref;
    case 'branch':
    case 'tag':
      if (ref.name === '' || FORBIDDEN.test(ref.name) || ref.name.length > 255)
        throw badRef(ref.name, `expected the plain name of a ${ref.type}, such as main or release/1.2`);
      return ref;
    case 'commit':
      if (!COMMIT_ID.test(ref.id))
        throw badRef(ref.id, 'expected a full commit id of 40 or 64 hexadecimal digits');
      return ref;
    case 'semver':
      if (validRange(ref.range) === null)
        throw badRef(ref.range, 'expected a semantic version range such as ^1.2 or >=1.0 <2');
      return ref;
  }
}

function badRef(got: string, expected: string): InputError {
  return new InputError(`got ${JSON.stringify(got)}, ${expected}`, {
    code: 'git.bad-ref',
    subject: 'Git ref',
  });
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
