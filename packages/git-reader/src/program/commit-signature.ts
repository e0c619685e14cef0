import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { InputError, errorText } from '@berth/runtime/errors';
import { gitEnvironment } from './git-environment.ts';
import { sha256 } from '@berth/runtime/sha256';
import { childProcessGroups } from '@berth/runtime/processes/process-groups';
import { errorLine, NO_USER } from '../repository/git-failure.ts';
import { runGit, runGitOrThrow } from './run-git.ts';

/**
 * What must be signed, with the names of Flux: the commit (`HEAD`), the annotated tag that the source follows (`Tag`), or both. The
 * signatures of earlier commits are not checked: the signed commit contains their ids.
 */
export type SignatureMode = 'HEAD' | 'Tag' | 'TagAndHEAD';

/** The keys whose signatures are accepted. At least one of the two files must be given. */
export interface SignaturePolicy {
  /** Default `HEAD`. */
  readonly mode?: SignatureMode | undefined;
  /** OpenSSH allowed_signers file: `ada@example.com ssh-ed25519 AAAA…`. */
  readonly allowedSignersFile?: string | undefined;
  /** Public GPG keys, armored or binary. */
  readonly gpgKeysFile?: string | undefined;
}

const TAG_FORMAT = '%(refname) %(objectname) %(tag)';
const TAG_LINE = /^(\S+) ([0-9a-f]+) (.*)$/m;

/**
 * Verifies the signatures of commits and tags through git. The key ring holds only the allowed keys, so that every valid signature is
 * one by an allowed key.
 */
export class SignatureVerifier {
  readonly #policy: SignaturePolicy;
  readonly #ambient: Readonly<Record<string, string | undefined>>;
  /** The GnuPG key ring, and the digest of the key file that it was made from. */
  #keyRing: { readonly digest: string; readonly dir: string } | undefined;

  constructor(policy: SignaturePolicy, ambient: Readonly<Record<string, string | undefined>>) {
    if (policy.allowedSignersFile === undefined && policy.gpgKeysFile === undefined)
      throw new InputError('names no keys, expected allowedSignersFile or gpgKeysFile', {
        code: 'git.signature-policy',
        subject: 'Signature policy',
      });
    this.#policy = policy;
    this.#ambient = ambient;
  }

  /**
   * @param commit full id of the commit that will be read; a signed tag must point to it
   * @param tag name of the tag that the source follows; undefined when it follows no tag
   * @throws InputError `git.signature` when a required signature is missing, or is not by an allowed key
   */
  async check(gitDir: string, commit: string, tag?: string): Promise<void> {
    const { mode = 'HEAD' } = this.#policy;
    if (mode !== 'HEAD') await this.#checkTag(gitDir, commit, tag);
    if (mode !== 'Tag') await this.#verify(gitDir, 'verify-commit', commit, `Commit ${commit.slice(0, 12)}`);
  }

  async #checkTag(gitDir: string, commit: string, tag: string | undefined): Promise<void> {
    const mode = this.#policy.mode ?? 'HEAD';
    if (tag === undefined)
      throw new InputError(`asks for a signed tag (${mode}), but the source follows no tag`, {
        code: 'git.signature-policy',
        subject: 'Signature policy',
        hint: 'follow a tag or a semver range, or use mode HEAD',
      });
    const subject = `Tag ${tag}`;
    const git = { environment: gitEnvironment({ gitDir, ambient: this.#ambient }), cwd: gitDir, subject };
    // Resolve the name once and verify the id: a fetch may change the tag in between.
    const ref = `refs/tags/${tag}`;
    const listed = await runGitOrThrow({ ...git, args: ['for-each-ref', `--format=${TAG_FORMAT}`, ref] });
    const [, found, id = '', named = ''] = TAG_LINE.exec(listed) ?? [];
    if (found !== ref) throw refused(subject, 'it does not exist any more');
    await this.#verify(gitDir, 'verify-tag', id, subject);
    // The signature covers the name in the tag object: an old signed tag must not be accepted under a new name.
    if (named !== tag) throw refused(subject, `it was signed under the name ${JSON.stringify(named)}`);
    const target = await runGitOrThrow({ ...git, args: ['rev-parse', '--verify', `${id}^{commit}`] });
    if (target.trim() !== commit)
      throw refused(subject, `it points to another commit than ${commit.slice(0, 12)}, which was fetched`);
  }

  async #verify(
    gitDir: string,
    command: 'verify-commit' | 'verify-tag',
    object: string,
    subject: string,
  ): Promise<void> {
    const { allowedSignersFile = '/dev/null', gpgKeysFile } = this.#policy;
    // With a missing file, git would report every signature as one by an unknown key.
    await readKeys(allowedSignersFile, 'Allowed signers');
    const environment = gitEnvironment({
      gitDir,
      ambient: this.#ambient,
      config: {
        'gpg.ssh.allowedSignersFile': allowedSignersFile,
        // A policy has no X.509 certificates, and gpgsm would trust those of the machine.
        'gpg.x509.program': '/dev/null',
      },
    });
    const result = await runGit({
      args: [command, object],
      environment: { ...environment, GNUPGHOME: await this.#currentKeyRing() },
      cwd: gitDir,
      subject,
    });
    if (result.ok) return;
    const missing = /cannot run (gpg|ssh-keygen)\b/.exec(result.stderr)?.[1];
    if (missing !== undefined && (missing === 'gpg' ? gpgKeysFile : this.#policy.allowedSignersFile))
      throw needsProgram(missing, `${subject}'s signature`);
    if (result.error.code === NO_USER) throw result.error;
    const unsigned =
      result.stderr.trim() === '' || /cannot verify a non-tag object|no signature found/.test(result.stderr);
    const why = unsigned
      ? 'it is not signed'
      : `its signature is not by an allowed key, or is not good (git: ${errorLine(result.stderr)})`;
    throw new InputError(`is refused: ${why}`, {
      code: 'git.signature',
      subject,
      hint: 'sign it with an allowed key; the last accepted commit stays in force',
      cause: new Error(result.stderr),
    });
  }

  async close(): Promise<void> {
    const ring = this.#keyRing;
    this.#keyRing = undefined;
    if (ring !== undefined) await rm(ring.dir, { recursive: true, force: true });
  }

  /** The path of the key ring. It is created again when the key file changed, so that removed and revoked keys are not accepted. */
  async #currentKeyRing(): Promise<string> {
    const { gpgKeysFile } = this.#policy;
    const keys = gpgKeysFile === undefined ? Buffer.alloc(0) : await readKeys(gpgKeysFile, 'GPG keys');
    const digest = sha256(keys);
    // The system may delete old temporary files, and an empty key ring would refuse every signature.
    const isComplete =
      this.#keyRing !== undefined && (await isKeyRingComplete(this.#keyRing.dir, keys.length > 0));
    if (!isComplete || this.#keyRing?.digest !== digest) {
      await this.close();
      this.#keyRing = { digest, dir: await this.#createKeyRing(keys) };
    }
    return this.#keyRing.dir;
  }

  async #createKeyRing(keys: Buffer): Promise<string> {
    // gpg creates sockets in this folder, and the path of a socket must be short.
    const ring = await mkdtemp(path.join(os.tmpdir(), 'berth-gpg-'));
    const { gpgKeysFile } = this.#policy;
    if (gpgKeysFile === undefined) return ring;
    await new Promise<void>((resolve, reject) => {
      const args = ['--homedir', ring, '--batch', '--quiet', '--no-autostart', '--import'];
      const env = { PATH: this.#ambient['PATH'] ?? '' };
      const gpg = execFile('gpg', args, { env }, (error, _stdout, stderr) => {
        untrack();
        if (error === null) return resolve();
        reject(
          error.code === 'ENOENT'
            ? needsProgram('gpg', `GPG keys ${gpgKeysFile}`)
            : unreadableKeys(`GPG keys ${gpgKeysFile}`, stderr.trim() || error.message, error),
        );
      });
      const untrack = childProcessGroups.track(gpg.pid);
      gpg.stdin?.on('error', () => undefined).end(keys); // EPIPE: the exit code reports the failure
    }).catch(async (error: unknown) => {
      await rm(ring, { recursive: true, force: true });
      throw error;
    });
    return ring;
  }
}

/** Whether the key ring still has its public keys: in `pubring.kbx` (`pubring.kbx~` is a backup), or in `public-keys.d`. */
async function isKeyRingComplete(ring: string, hasKeys: boolean): Promise<boolean> {
  const names = await readdir(ring).catch(() => undefined);
  return names !== undefined && (!hasKeys || names.some((name) => /^pub.*[^~]$/.test(name)));
}

async function readKeys(file: string, what: string): Promise<Buffer> {
  return readFile(file).catch((cause: unknown) => {
    throw unreadableKeys(`${what} ${file}`, errorText(cause), cause);
  });
}

function unreadableKeys(subject: string, why: string, cause: unknown): InputError {
  return new InputError(`cannot be read: ${why}`, { code: 'git.signature-policy', subject, cause });
}

function refused(subject: string, why: string): InputError {
  return new InputError(`is refused: ${why}`, { code: 'git.signature', subject });
}

function needsProgram(program: string, subject: string): InputError {
  return new InputError(`needs the program ${program}, which is not installed`, {
    code: 'git.signature-policy',
    subject,
    hint: `install ${program}; the last accepted commit stays in force`,
  });
}
