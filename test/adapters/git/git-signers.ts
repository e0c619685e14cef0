import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { SignaturePolicy } from '@berth/git-reader/program/commit-signature';
import { findProgram } from '@berth/test-kit/needed-program';
import { type GitFixture, tempDir } from '../../../packages/git-reader/test/git-fixture.ts';

/** Somebody with a key of their own. */
export interface Signer {
  /** Git configuration that signs with the key. */
  readonly config: readonly string[];
  readonly env: Record<string, string>;
  readonly policy: SignaturePolicy;
}

function sshSigner(): Signer {
  const dir = tempDir();
  const key = path.join(dir, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const allowedSignersFile = path.join(dir, 'allowed');
  writeFileSync(allowedSignersFile, `ada@example.com ${readFileSync(`${key}.pub`, 'utf8')}`);
  return { config: ['gpg.format=ssh', `user.signingKey=${key}`], env: {}, policy: { allowedSignersFile } };
}

/** Runs gpg on the keys of a signer; what it writes. */
export function gpg({ env }: Pick<Signer, 'env'>, args: readonly string[], input = ''): Buffer {
  return withoutAgent(env, () =>
    execFileSync('gpg', ['--batch', '--quiet', ...args], {
      env: { ...process.env, ...env },
      input,
      stdio: ['pipe', 'pipe', 'ignore'],
    }),
  );
}

/**
 * Ends the agent that gpg starts. Each agent holds two inotify instances, and Linux gives a user
 * 128 of them.
 */
function withoutAgent<T>(env: Signer['env'], use: () => T): T {
  try {
    return use();
  } finally {
    const homedir = env['GNUPGHOME'];
    if (homedir !== undefined)
      execFileSync('gpgconf', ['--homedir', homedir, '--kill', 'gpg-agent'], { stdio: 'ignore' });
  }
}

export function gpgSigner(): Signer {
  const env = { GNUPGHOME: mkdtempSync('/tmp/berth-gpgtest-') };
  const key = ['Ada <ada@example.com>', 'ed25519', 'sign', 'never'];
  gpg({ env }, ['--passphrase', '', '--quick-generate-key', ...key]);
  const gpgKeysFile = path.join(tempDir(), 'keys.asc');
  writeFileSync(gpgKeysFile, gpg({ env }, ['--armor', '--export']));
  return { config: ['gpg.format=openpgp', 'user.signingKey=ada@example.com'], env, policy: { gpgKeysFile } };
}

/** Name of the kind, whether its program is there, and how to make a signer. */
export const SIGNER_KINDS: readonly [string, boolean, () => Signer][] = [
  ['SSH', findProgram('ssh-keygen') !== undefined, sshSigner],
  ['GPG', findProgram('gpg') !== undefined, gpgSigner],
];

function signingEnvironment(fixture: GitFixture, signer: Signer): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...signer.env,
    GIT_DIR: fixture.dir,
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  };
}

/**
 * A commit with the tree of main's tip, on top of it.
 * @returns its id
 */
export function signedCommit(fixture: GitFixture, signer: Signer, message: string): string {
  const parent = fixture.tip('main') ?? '';
  const config = signer.config.flatMap((entry) => ['-c', entry]);
  const commit = withoutAgent(signer.env, () =>
    execFileSync('git', [...config, 'commit-tree', '-S', '-p', parent, '-m', message, `${parent}^{tree}`], {
      env: signingEnvironment(fixture, signer),
      encoding: 'utf8',
    }).trim(),
  );
  fixture.git('update-ref', 'refs/heads/main', commit);
  return commit;
}

/**
 * A tag that takes the place of one of that name.
 * @returns the id of the tag itself
 */
export function signedTag(fixture: GitFixture, signer: Signer, name: string, target: string): string {
  const config = signer.config.flatMap((entry) => ['-c', entry]);
  withoutAgent(signer.env, () =>
    execFileSync('git', [...config, 'tag', '-s', '-f', '-m', name, name, target], {
      env: signingEnvironment(fixture, signer),
      stdio: 'ignore',
    }),
  );
  return fixture.git('rev-parse', `refs/tags/${name}`);
}
