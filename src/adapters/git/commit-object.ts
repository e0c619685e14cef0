import { BugError } from '../../core/errors.ts';
import type { CommitInfo, GitPerson } from './git-repository.ts';

/** Parses the bytes of a commit object (as text). */
export function parseCommitObject(id: string, text: string): CommitInfo {
  const end = text.indexOf('\n\n');
  const headers = (end === -1 ? text : text.slice(0, end)).split('\n');
  const message = end === -1 ? '' : text.slice(end + 2);
  const valuesOf = (name: string): string[] =>
    headers.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const [author] = valuesOf('author');
  const [committer] = valuesOf('committer');
  if (author === undefined || committer === undefined)
    throw new BugError('commit object without author', { code: 'git.output', subject: `commit ${id}` });
  return {
    id,
    parents: valuesOf('parent'),
    author: parsePerson(author),
    committer: parsePerson(committer),
    subject: message.trimStart().split('\n', 1)[0] ?? '',
    signed: headers.some((line) => line.startsWith('gpgsig ') || line.startsWith('gpgsig-sha256 ')),
  };
}

/** `Name <mail> seconds zone`, leniently: old tools wrote odd ones. */
function parsePerson(text: string): GitPerson {
  const match = /^(.*?)\s*<([^>]*)>\s*(-?\d+)?/.exec(text);
  const seconds = Number(match?.[3] ?? 0);
  return { name: match?.[1] ?? text, email: match?.[2] ?? '', timeMs: seconds * 1000 };
}
