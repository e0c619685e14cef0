import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { InputError, errorText } from '../../../core/errors.ts';
import { gitEnvironment } from './git-environment.ts';
import { sha256 } from '../../../runtime/sha256.ts';
import { childGroups } from '../../../runtime/child-groups.ts';
import { runGit, runGitOrThrow } from './run-git.ts';

/**
 * What has to be signed, in Flux's words: the commit (`HEAD`), the annotated tag that is followed (`Tag`), or both. Who signs
 * the tip vouches for its tree and for all that led to it; commits before it are not looked at.
 */
export type SignatureMode = 'HEAD' | 'Tag' | 'TagAndHEAD';

/** Whose signatures count. At least one list must be given; both kinds may be mixed. */
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
 * Checks commits against a policy through git, with a key ring that holds nothing but the allowed keys, so that a good
 * signature is an allowed one.
 */
export class SignatureVerifier {
  readonly #policy: SignaturePolicy;
  readonly #ambient: Readonly<Record<string, string | undefined>>;
  /** Of the keys as they were last; another file content means another ring. */
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
   * Throws InputError `git.signature` when what the policy asks for is not signed by an allowed key.
   * @param commit full id of what is going to be read: a signed tag vouches for it only if it leads to it
   * @param tag the tag that was followed to the commit; undefined when it was no tag
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
    // Read once: the name may denote another tag a moment later, an id may not.
    const ref = `refs/tags/${tag}`;
    const listed = await runGitOrThrow({ ...git, args: ['for-each-ref', `--format=${TAG_FORMAT}`, ref] });
    const [, found, id = '', named = ''] = TAG_LINE.exec(listed) ?? [];
    if (found !== ref) throw refused(subject, 'it is not there any more');
    await this.#verify(gitDir, 'verify-tag', id, subject);
    // A genuine old tag that was put under a new name is no signature of that name.
    if (named !== tag) throw refused(subject, `it was signed under the name ${JSON.stringify(named)}`);
    const target = await runGitOrThrow({ ...git, args: ['rev-parse', '--verify', `${id}^{commit}`] });
    if (target.trim() !== commit)
      throw refused(subject, `it leads to another commit than ${commit.slice(0, 12)}, which was fetched`);
  }

  async #verify(
    gitDir: string,
    command: 'verify-commit' | 'verify-tag',
    object: string,
    subject: string,
  ): Promise<void> {
    const { allowedSignersFile = '/dev/null', gpgKeysFile } = this.#policy;
    // Not there yet, it would make every signature one of a stranger.
    await readKeys(allowedSignersFile, 'Allowed signers');
    const environment = gitEnvironment({
      gitDir,
      ambient: this.#ambient,
      config: {
        'gpg.ssh.allowedSignersFile': allowedSignersFile,
        // No policy names certificates; gpgsm would trust those of the machine.
        'gpg.x509.program': '/dev/null',
      },
    });
    const result = await runGit({
      args: [command, '--raw', object],
      environment: { ...environment, GNUPGHOME: await this.#currentKeyRing() },
      cwd: gitDir,
      subject,
    });
    if (result.ok) return;
    const missing = /cannot run (gpg|ssh-keygen)\b/.exec(result.stderr)?.[1];
    if (missing !== undefined && (missing === 'gpg' ? gpgKeysFile : this.#policy.allowedSignersFile))
      throw needsProgram(missing, `${subject}'s signature`);
    const unsigned =
      result.stderr.trim() === '' || /cannot verify a non-tag object|no signature found/.test(result.stderr);
    const why = unsigned ? 'it is not signed' : 'its signature is not by an allowed key, or is not good';
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

  /** Created again when the file of keys changed: a key that was taken out, or revoked in it, counts no more. */
  async #currentKeyRing(): Promise<string> {
    const { gpgKeysFile } = this.#policy;
    const keys = gpgKeysFile === undefined ? Buffer.alloc(0) : await readKeys(gpgKeysFile, 'GPG keys');
    const digest = sha256(keys);
    // Systems tidy their folder of temporary files up: an empty ring would know nobody.
    const isThere = this.#keyRing !== undefined && (await isWhole(this.#keyRing.dir, keys.length > 0));
    if (!isThere || this.#keyRing?.digest !== digest) {
      await this.close();
      this.#keyRing = { digest, dir: await this.#makeKeyRing(keys) };
    }
    return this.#keyRing.dir;
  }

  async #makeKeyRing(keys: Buffer): Promise<string> {
    // Short: gpg puts sockets in there, whose paths may not be long.
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
      const untrack = childGroups.track(gpg.pid);
      gpg.stdin?.on('error', () => undefined).end(keys); // EPIPE: the exit code reports the failure
    }).catch(async (error: unknown) => {
      await rm(ring, { recursive: true, force: true });
      throw error;
    });
    return ring;
  }
}

/** gpg keeps public keys in `pubring.kbx` (what it was before in `pubring.kbx~`), or in `public-keys.d`. */
async function isWhole(ring: string, hasKeys: boolean): Promise<boolean> {
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
