import { type BerthError, InputError, TransientError } from '@berth/runtime/errors';
import { PARTIAL_CLONE } from './incomplete-clone.ts';

interface KnownFailure {
  readonly pattern: RegExp;
  readonly code: string;
  readonly problem: string;
  readonly hint?: string;
  readonly transient?: boolean;
}

export const NO_USER = 'git.no-user';

/**
 * The git program always exits with 128, so failures can be distinguished only by their messages. They are parsed only
 * here, under LC_ALL=C.
 */
const KNOWN: readonly KnownFailure[] = [
  // First: without lazy fetches the same output has other messages, such as that of a transport that is not allowed.
  { pattern: /lazy fetching disabled|from promisor remote|filtered out/, ...PARTIAL_CLONE },
  {
    // Of ssh and ssh-keygen, which begin with the entry of their user.
    pattern: /No user exists for uid/,
    code: NO_USER,
    problem: 'ssh needs an entry of its user in /etc/passwd',
    hint: 'run the image as its own user, 65532, or give the user that it runs as an entry in /etc/passwd',
  },
  { pattern: /No space left on device/, code: 'git.disk-full', problem: 'the disk is full', transient: true },
  {
    pattern: /couldn't find remote ref|not our ref|unadvertised object|no such remote ref/,
    code: 'git.ref-not-found',
    problem: 'the remote has no such branch, tag or commit',
  },
  {
    pattern: /Host key verification failed|No \w+ host key is known|REMOTE HOST IDENTIFICATION HAS CHANGED/,
    code: 'git.host-key',
    problem: "the remote's host key is not the one in the known_hosts file",
    hint: 'check the key with the forge, then put its line into the known_hosts file',
  },
  {
    pattern:
      /Authentication failed|could not read (Username|Password)|terminal prompts disabled|Permission denied|returned error: 40[13]|HTTP 40[13]/,
    code: 'git.auth',
    problem: 'the remote refused the credentials',
    hint: 'check that the token, password or key is valid and may read the repository',
  },
  {
    pattern:
      /repository '?.*'? not found|does not appear to be a git repository|does not exist|returned error: 404/i,
    code: 'git.repository-not-found',
    problem: 'there is no such repository, or the credentials may not see it',
  },
  {
    pattern: /returned error: 30[1278]/,
    code: 'git.redirect',
    problem: 'the remote redirects to another address, to which the credentials must not be sent',
    hint: 'use the address that the remote redirects to; often it is the same with .git at its end',
  },
  {
    pattern: /detected dubious ownership/,
    code: 'git.ownership',
    problem: 'the repository belongs to another user',
    hint: 'let the user that runs Berth own it, or serve it over ssh or https',
  },
  {
    pattern: /transport '.*' not allowed/,
    code: 'git.transport',
    problem: 'the remote requires another transport than that of its URL',
  },
  {
    pattern: /mismatched algorithms|object format mismatch/,
    code: 'git.object-format',
    problem: 'its objects have ids of another kind (SHA-1, SHA-256) than those of the mirror',
    transient: true,
  },
  {
    pattern: /cannot lock ref '[^']*': '[^']*' exists; cannot create/,
    code: 'git.name-taken',
    problem: 'the name of an old branch or tag conflicts with this one',
    transient: true,
  },
  {
    // Checked before messages about objects, which would discard our mirror.
    pattern: /corruption on the remote side|pack-objects died|bad pack header/,
    code: 'git.remote-damaged',
    problem: 'the remote cannot send all of its objects',
    transient: true,
  },
  {
    pattern:
      /bad object|packfile .* (?:does not match|cannot be)|too short to be a packfile|index file .* is too small|Could not read [0-9a-f]{40}|unable to read (tree|sha1)|missing blob|is corrupt|did not send all necessary objects/,
    code: 'git.corrupt',
    problem: 'objects are missing or damaged',
    transient: true,
  },
];

/** The error for a failed git command. */
export function gitFailure(stderr: string, subject: string): BerthError {
  const known = KNOWN.find(({ pattern }) => pattern.test(stderr));
  const gitMessage = errorLine(stderr);
  if (known === undefined)
    return new TransientError(`git failed: ${gitMessage}`, {
      code: 'git.failed',
      subject,
      cause: new Error(stderr),
    });
  const details = { code: known.code, subject, hint: known.hint, cause: new Error(stderr) };
  const problem = `${known.problem} (git: ${gitMessage})`;
  return known.transient === true ? new TransientError(problem, details) : new InputError(problem, details);
}

/**
 * The first fatal or error line, otherwise the last line. Where the transport failed, the line before: what ssh said.
 */
export function errorLine(stderr: string): string {
  const lines = stderr
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const fatal = lines.findIndex((line) => /^(fatal|error):/.test(line));
  const isOfTransport = /^fatal: Could not read from remote/.test(lines[fatal] ?? '');
  return (lines.at(isOfTransport && fatal > 0 ? fatal - 1 : fatal) ?? 'no message').slice(0, 300);
}
