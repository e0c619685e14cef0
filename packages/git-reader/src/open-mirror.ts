import { readFile, rm, writeFile, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { InputError, TransientError } from '@berth/runtime/errors';
import { PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import {
  clearMirror,
  DEFAULT_FETCH_TIMEOUT_MS,
  lockMirrorDirectory,
  mirrorExists,
  type MirrorOptions,
  URL_FILE,
} from './mirror/mirror-lock.ts';
import { gitEnvironment } from './program/git-environment.ts';
import { GitProgramRepository } from './program/git-program-repository.ts';
import { hasGitProgram, needsGitProgram } from './program/git-program.ts';
import { runGit, runGitOrThrow } from './program/run-git.ts';
import { authorize, checkAuthMatchesUrl, NO_AUTH, reportRefusedAuth } from './repository/git-auth.ts';
import { checkGitRef, formatGitRef, missingBranchHint, refspecsOf } from './repository/git-ref.ts';
import type { GitMirror, FetchOptions, GitRef, PinName } from './repository/git-repository.ts';
import { parseGitUrl, type GitUrl } from './repository/git-url.ts';

export interface OpenedMirror {
  readonly repository: GitMirror;
  /** Whether isomorphic-git is used, because there is no git program. It is several times slower, and holds packs in memory. */
  readonly inProcess: boolean;
}

/**
 * Opens the mirror of a remote with the git program, or with isomorphic-git where there is no git program.
 * @param isSigned whether the source has a signature policy
 * @throws InputError `git.needs-program` when there is no git program, and the source uses ssh or has a signature policy
 */
export async function openMirror(options: MirrorOptions, isSigned: boolean): Promise<OpenedMirror> {
  if (await hasGitProgram(options.ambient))
    return { repository: await GitProgramMirror.open(options), inProcess: false };
  if (isSigned)
    throw needsGitProgram(
      `Git repository ${options.url}`,
      'checking signatures',
      'remove the signature policy from the source if its commits need no signature',
    );
  // Imported on use: loading isomorphic-git takes a quarter of a second.
  const { InProcessMirror } = await import('./in-process/in-process-mirror.ts');
  return { repository: await InProcessMirror.open(options), inProcess: true };
}

const DEFAULT_MAX_BYTES = 8 * 1024 ** 3;
const MAX_PACKS = 50;
/** A fetch writes its progress to stderr, and almost nothing to stdout. */
const MAX_FETCH_STDOUT_BYTES = 1024 ** 2;
/** Failures that may pass when the mirror is created again. */
const REPAIRED_BY_REFETCH: ReadonlySet<string> = new Set(['git.corrupt', 'git.object-format']);
/** Prefixes of the refs that a fetch writes. Pins are under refs/berth. */
const FETCHED_REF_PREFIXES = ['refs/heads', 'refs/tags'] as const;
const FETCH_ARGUMENTS = [
  'fetch',
  '--no-tags',
  '--prune',
  '--force',
  '--update-shallow',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
  '--no-write-fetch-head',
  '--progress',
  '--end-of-options',
] as const;

/** A bare mirror that is updated by `git fetch`. Only one process has it open at a time. */
export class GitProgramMirror extends GitProgramRepository implements GitMirror {
  readonly #options: MirrorOptions;
  readonly #url: GitUrl;
  #unlock: () => Promise<void>;
  timesRecreated = 0;

  private constructor(options: MirrorOptions, url: GitUrl, unlock: () => Promise<void>) {
    super({ gitDir: options.mirrorDir, ambient: options.ambient });
    this.#options = options;
    this.#url = url;
    this.#unlock = unlock;
  }

  /**
   * Opens or creates the mirror without fetching.
   * @throws InputError when the URL is invalid, or the mirror is in use
   */
  static async open(options: MirrorOptions): Promise<GitProgramMirror> {
    const url = parseGitUrl(options.url);
    checkAuthMatchesUrl(url, options.auth ?? NO_AUTH);
    const unlock = await lockMirrorDirectory(options.mirrorDir);
    try {
      await prepare(options);
      return new GitProgramMirror(options, url, unlock);
    } catch (error) {
      await unlock();
      throw error;
    }
  }

  async fetch(ref: GitRef, options: FetchOptions = {}): Promise<string> {
    checkGitRef(ref);
    if (!(await mirrorExists(this.gitDir))) await this.#recreate();
    try {
      const commit = await this.#fetchRef(ref, options);
      if (options.refetchAll !== true) return commit;
    } catch (error) {
      if (!(error instanceof TransientError) || !REPAIRED_BY_REFETCH.has(error.code)) throw error;
      return this.#refetchAll(ref, options, error.code === 'git.object-format');
    }
    return this.#refetchAll(ref, options, false);
  }

  /** Locks and creates the mirror again after its directory was removed. */
  async #recreate(): Promise<void> {
    await super.close();
    await this.#unlock();
    this.#unlock = await lockMirrorDirectory(this.gitDir);
    await prepare(this.#options);
    this.timesRecreated += 1;
  }

  /**
   * Deletes the objects of the mirror, which is only a cache, and fetches everything again, once.
   * @param switchFormat whether the remote has ids of the other kind (SHA-1, SHA-256) than the mirror
   */
  async #refetchAll(ref: GitRef, options: FetchOptions, switchFormat: boolean): Promise<string> {
    const format = await this.git(['rev-parse', '--show-object-format'], this.gitDir).catch(() => 'sha1');
    await super.close();
    await rm(path.join(this.gitDir, URL_FILE), { force: true });
    await prepare(this.#options, switchFormat === (format.trim() === 'sha1') ? 'sha256' : 'sha1');
    return this.#fetchRef(ref, options);
  }

  async #fetchRef(ref: GitRef, options: FetchOptions): Promise<string> {
    if (ref.type === 'commit' && options.refetchAll !== true) {
      // The id may be that of an annotated tag: resolve it to its commit.
      const commit = await this.#resolveLocally(ref);
      if (commit !== undefined) return commit;
    }
    const refspecs = refspecsOf(ref);
    await this.#fetchWithoutNameConflicts(refspecs, options).catch(async (error: unknown) => {
      if (!(error instanceof InputError) || error.code !== 'git.ref-not-found') throw error;
      if (ref.type === 'branch') throw await this.#missingBranch(ref, error);
      // Servers may refuse to send a commit by its id: fetch all branches and tags instead.
      if (ref.type !== 'commit') throw error;
      await this.#fetchRefspecs(['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'], options);
    });
    return this.resolve(ref);
  }

  /** The same error, with what to write instead. */
  async #missingBranch(ref: GitRef & { readonly type: 'branch' }, error: InputError): Promise<InputError> {
    const listed = await runGit({
      args: ['ls-remote', '--end-of-options', this.#url.text, `refs/tags/${ref.name}`],
      environment: await this.#fetchEnvironment(),
      cwd: this.gitDir,
      subject: error.subject,
      timeoutMs: this.#options.fetchTimeoutMs ?? DEFAULT_FETCH_TIMEOUT_MS,
    });
    const hint = missingBranchHint(ref, listed.ok && listed.stdout.trim() !== '');
    if (hint === undefined) return error;
    const { code, subject, cause } = error;
    return new InputError(`the remote has no ${formatGitRef(ref)}`, { code, subject, hint, cause });
  }

  /** Fetches the refspecs. If an old ref `release` blocks a new ref `release/1.2`, or the reverse, deletes all fetched refs first. */
  async #fetchWithoutNameConflicts(refspecs: readonly string[], options: FetchOptions): Promise<void> {
    try {
      await this.#fetchRefspecs(refspecs, options);
    } catch (error) {
      if (!(error instanceof TransientError) || error.code !== 'git.name-taken') throw error;
      const fetchedRefs = (
        await this.git(['for-each-ref', '--format=%(refname)', ...FETCHED_REF_PREFIXES], this.gitDir)
      )
        .split('\n')
        .filter((name) => name !== '');
      for (const name of fetchedRefs) await this.git(['update-ref', '-d', name], this.gitDir);
      await this.#fetchRefspecs(refspecs, options);
    }
  }

  async pin(name: PinName, commit: string): Promise<void> {
    if ((await this.pinned(name)) === commit) return;
    await this.git(['update-ref', `refs/berth/${name}`, commit], this.gitDir);
  }

  pinned(name: PinName): Promise<string | undefined> {
    return this.commitOf(`refs/berth/${name}`);
  }

  /** Repacks when there are more than MAX_PACKS packs: every fetch adds one. Unreachable objects are deleted after two weeks. */
  async repack(): Promise<void> {
    if ((await countPacks(this.gitDir)) <= MAX_PACKS) return;
    const { gitDir, ambient } = this;
    await runGitOrThrow({
      args: ['gc', '--quiet', '--prune=2.weeks.ago'],
      environment: gitEnvironment({ gitDir, ambient, config: { 'pack.threads': '1' } }),
      cwd: gitDir,
      subject: gitDir,
      inBackground: true,
    });
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#unlock();
  }

  async #resolveLocally(ref: GitRef): Promise<string | undefined> {
    return this.resolve(ref).catch((error: unknown) => {
      if (error instanceof InputError) return undefined;
      throw error;
    });
  }

  async #fetchRefspecs(
    refspecs: readonly string[],
    { signal, onObjectsReceived }: FetchOptions,
  ): Promise<void> {
    const { maxBytes = DEFAULT_MAX_BYTES, fetchTimeoutMs = DEFAULT_FETCH_TIMEOUT_MS } = this.#options;
    const tooLarge = new AbortController();
    const stopSizeWatch = watchSize(this.gitDir, maxBytes, () => tooLarge.abort());
    try {
      await runGitOrThrow({
        args: [...FETCH_ARGUMENTS, this.#url.text, ...refspecs],
        environment: await this.#fetchEnvironment(),
        cwd: this.gitDir,
        subject: `Git repository ${this.#url.text}`,
        signal: signal === undefined ? tooLarge.signal : AbortSignal.any([tooLarge.signal, signal]),
        timeoutMs: fetchTimeoutMs,
        maxStdoutBytes: MAX_FETCH_STDOUT_BYTES,
      });
      onObjectsReceived?.();
    } catch (error) {
      await removeGitLeftovers(this.gitDir);
      if (error instanceof InputError) reportRefusedAuth(error, this.#options.auth);
      if (tooLarge.signal.aborted) throw this.#tooLarge(maxBytes);
      throw error;
    } finally {
      stopSizeWatch();
    }
    if ((await directoryBytes(this.gitDir)) > maxBytes) throw this.#tooLarge(maxBytes);
  }

  #tooLarge(maxBytes: number): InputError {
    return new InputError(`the mirror grew beyond ${maxBytes} bytes`, {
      code: 'git.too-large',
      subject: `Git repository ${this.#url.text}`,
      hint: 'raise the limit of this source, or point it at a smaller repository',
    });
  }

  async #fetchEnvironment(): Promise<Record<string, string>> {
    const { auth = NO_AUTH, ambient, caFile } = this.#options;
    const { header, ssh } = await authorize(this.#url, auth);
    return gitEnvironment({
      gitDir: this.gitDir,
      ambient,
      transport: this.#url.transport,
      authorization: header === undefined ? undefined : { url: this.#url.text, value: header },
      ssh,
      caFile,
    });
  }
}

/** Makes the directory a bare repository for the URL. A repository that is broken or of another URL is deleted first. */
async function prepare(options: MirrorOptions, objectFormat = 'sha1'): Promise<void> {
  const { mirrorDir, url, ambient } = options;
  const environment = gitEnvironment({ gitDir: mirrorDir, ambient });
  const subject = `Git mirror ${mirrorDir}`;
  const recorded = await readFile(path.join(mirrorDir, URL_FILE), 'utf8').catch(() => undefined);
  if (recorded === url) {
    await removeGitLeftovers(mirrorDir);
    const probe = await runGit({
      args: ['rev-parse', '--is-bare-repository'],
      environment,
      cwd: mirrorDir,
      subject,
    });
    if (probe.ok && probe.stdout.trim() === 'true') return;
  }
  await clearMirror(mirrorDir);
  const init = await runGit({
    args: ['init', '--quiet', '--bare', '--template=', `--object-format=${objectFormat}`],
    environment,
    cwd: mirrorDir,
    subject,
  });
  if (!init.ok)
    throw new TransientError(`cannot be created: ${init.stderr.trim()}`, {
      code: 'git.mirror',
      subject,
      cause: init.error,
    });
  await writeFile(path.join(mirrorDir, URL_FILE), url, { mode: PRIVATE_FILE_MODE });
}

const SIZE_CHECK_EVERY_MS = 1_000;

/** Calls `tooLarge` once when the directory grows beyond `maxBytes`. The returned function ends the watch. */
function watchSize(directory: string, maxBytes: number, tooLarge: () => void): () => void {
  let checking = false;
  const timer = setInterval(() => {
    if (checking) return;
    checking = true;
    directoryBytes(directory)
      .then((bytes) => {
        if (bytes > maxBytes) tooLarge();
      })
      .catch(() => undefined) // a file vanished meanwhile: the next check measures again
      .finally(() => {
        checking = false;
      });
  }, SIZE_CHECK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * The size of the packs in bytes, including incomplete ones. Fetches keep packs (fetch.unpackLimit 1), so nothing else
 * grows.
 */
async function directoryBytes(gitDir: string): Promise<number> {
  const packs = path.join(gitDir, 'objects', 'pack');
  const names = await readdir(packs).catch((): string[] => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(path.join(packs, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function countPacks(gitDir: string): Promise<number> {
  const names = await readdir(path.join(gitDir, 'objects', 'pack')).catch((): string[] => []);
  return names.filter((name) => name.endsWith('.pack')).length;
}

/** Removes the files that a killed git process leaves: lock files, which would block every later fetch, and incomplete packs. */
async function removeGitLeftovers(mirrorDir: string): Promise<void> {
  const files = await readdir(mirrorDir, { recursive: true }).catch((): string[] => []);
  for (const file of files) {
    const name = path.basename(file);
    if (name.endsWith('.lock') || /^tmp_(pack|idx|obj|rev|mtimes|keep)_/.test(name))
      await rm(path.join(mirrorDir, file), { force: true });
  }
}
