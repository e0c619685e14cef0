import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { InputError } from '../../core/errors.ts';
import { gitEnvironment } from './git-environment.ts';
import { runGit } from './run-git.ts';

/** Whose signatures count. At least one list must be given; both kinds may be mixed. */
export interface SignaturePolicy {
  /** OpenSSH allowed_signers file: `ada@example.com ssh-ed25519 AAAA…`. */
  readonly allowedSignersFile?: string | undefined;
  /** Public GPG keys, armored or binary. */
  readonly gpgKeysFile?: string | undefined;
}

/**
 * Checks commits against a policy through git, with a key ring that holds nothing but the allowed keys, so that a good
 * signature is an allowed one. Only the commit itself is checked, not its ancestors: who signs it vouches for the tree.
 */
export class SignatureVerifier {
  readonly #policy: SignaturePolicy;
  readonly #ambient: Readonly<Record<string, string | undefined>>;
  #keyRing: Promise<string> | undefined;

  constructor(policy: SignaturePolicy, ambient: Readonly<Record<string, string | undefined>>) {
    if (policy.allowedSignersFile === undefined && policy.gpgKeysFile === undefined)
      throw new InputError('names no keys, expected allowedSignersFile or gpgKeysFile', {
        code: 'git.signature-policy',
        subject: 'Signature policy',
      });
    this.#policy = policy;
    this.#ambient = ambient;
  }

  /** Throws InputError `git.signature` when the commit is not signed by an allowed key. */
  async check(gitDir: string, commit: string): Promise<void> {
    const { allowedSignersFile = '/dev/null' } = this.#policy;
    const environment = gitEnvironment({
      gitDir,
      ambient: this.#ambient,
      config: { 'gpg.ssh.allowedSignersFile': allowedSignersFile },
    });
    this.#keyRing ??= this.#makeKeyRing();
    const result = await runGit({
      args: ['verify-commit', '--raw', commit],
      environment: { ...environment, GNUPGHOME: await this.#keyRing },
      cwd: gitDir,
      subject: `Commit ${commit}`,
    });
    if (result.ok) return;
    const why =
      result.stderr.trim() === ''
        ? 'it is not signed'
        : 'its signature is not by an allowed key, or is not good';
    throw new InputError(`is refused: ${why}`, {
      code: 'git.signature',
      subject: `Commit ${commit.slice(0, 12)}`,
      hint: 'sign it with an allowed key; the last accepted commit stays in force',
      cause: new Error(result.stderr),
    });
  }

  async close(): Promise<void> {
    const ring = await this.#keyRing?.catch(() => undefined);
    if (ring !== undefined) await rm(ring, { recursive: true, force: true });
  }

  async #makeKeyRing(): Promise<string> {
    // Short: gpg puts sockets in there, whose paths may not be long.
    const ring = await mkdtemp(path.join(os.tmpdir(), 'berth-gpg-'));
    const { gpgKeysFile } = this.#policy;
    if (gpgKeysFile === undefined) return ring;
    await new Promise<void>((resolve, reject) => {
      const args = ['--homedir', ring, '--batch', '--quiet', '--no-autostart', '--import', gpgKeysFile];
      execFile('gpg', args, { env: { PATH: this.#ambient['PATH'] ?? '' } }, (error, _stdout, stderr) => {
        if (error === null) return resolve();
        const details = { code: 'git.signature-policy', subject: `GPG keys ${gpgKeysFile}`, cause: error };
        reject(new InputError(`cannot be read: ${stderr.trim() || error.message}`, details));
      });
    });
    return ring;
  }
}
