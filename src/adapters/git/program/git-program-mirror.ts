import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InputError, TransientError } from '../../../core/errors.ts';
import { PRIVATE_FILE_MODE } from '../../../runtime/files/private-mode.ts';
import { authorize, checkAuthFits, NO_AUTH, tellRefused } from '../repository/git-auth.ts';
import { gitEnvironment } from './git-environment.ts';
import { GitProgramRepository } from './git-program-repository.ts';
import { checkGitRef, refspecsOf } from '../repository/git-ref.ts';
import type { FetchOptions, GitMirror, GitRef, PinName } from '../repository/git-repository.ts';
import { parseGitUrl } from '../repository/git-url.ts';
import type { GitUrl } from '../repository/git-url.ts';
import { clearMirror, isMirrorThere, URL_FILE } from '../mirror/mirror-files.ts';
import { removeLeftovers, takeDirectory } from '../mirror/mirror-lock.ts';
import { DEFAULT_FETCH_TIMEOUT_MS } from '../mirror/mirror-options.ts';
import type { MirrorOptions } from '../mirror/mirror-options.ts';
import { countPacks, directoryBytes, watchSize } from '../mirror/mirror-size.ts';
import { runGit, runGitOrThrow } from './run-git.ts';

const DEFAULT_MAX_BYTES = 8 * 1024 ** 3;
const MAX_PACKS = 50;
/** A fetch reports on stderr. */
const MAX_FETCH_STDOUT_BYTES = 1024 ** 2;
/** Failures that may pass when the mirror is created again. */
const REPAIRED_BY_REFETCH: ReadonlySet<string> = new Set(['git.corrupt', 'git.object-format']);

/** A bare mirror, fed by `git fetch`. One process owns it at a time. */
export class GitProgramMirror extends GitProgramRepository implements GitMirror {
  readonly #options: MirrorOptions;
  readonly #url: GitUrl;
  #unlock: () => Promise<void>;
  timesMadeAgain = 0;

  private constructor(options: MirrorOptions, url: GitUrl, unlock: () => Promise<void>) {
    super({ gitDir: options.mirrorDir, ambient: options.ambient });
    this.#options = options;
    this.#url = url;
    this.#unlock = unlock;
  }

  /** Opens or creates the mirror; nothing is fetched yet. InputError for a bad URL or a mirror that is in use. */
  static async open(options: MirrorOptions): Promise<GitProgramMirror> {
    const url = parseGitUrl(options.url);
    checkAuthFits(url, options.auth ?? NO_AUTH);
    const unlock = await takeDirectory(options.mirrorDir);
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
    if (!(await isMirrorThere(this.gitDir))) await this.#makeAgain();
    try {
      const commit = await this.#fetchRef(ref, options);
      if (options.anew !== true) return commit;
    } catch (error) {
      if (!(error instanceof TransientError) || !REPAIRED_BY_REFETCH.has(error.code)) throw error;
      return this.#fetchAnew(ref, options, error.code === 'git.object-format');
    }
    return this.#fetchAnew(ref, options, false);
  }

  /** After the directory was removed. */
  async #makeAgain(): Promise<void> {
    await super.close();
    await this.#unlock();
    this.#unlock = await takeDirectory(this.gitDir);
    await prepare(this.#options);
    this.timesMadeAgain += 1;
  }

  /** The mirror is only a cache: what is damaged, or of another kind (`isOther`), goes, and everything is fetched again, once. */
  async #fetchAnew(ref: GitRef, options: FetchOptions, isOther: boolean): Promise<string> {
    const format = await this.git(['rev-parse', '--show-object-format'], this.gitDir).catch(() => 'sha1');
    await super.close();
    await rm(path.join(this.gitDir, URL_FILE), { force: true });
    // Damaged: the same kind of ids again; refused for its kind: the other one.
    await prepare(this.#options, isOther === (format.trim() === 'sha1') ? 'sha256' : 'sha1');
    return this.#fetchRef(ref, options);
  }

  async #fetchRef(ref: GitRef, options: FetchOptions): Promise<string> {
    if (ref.type === 'commit' && options.anew !== true) {
      // The id may be that of a tag: what is followed is the commit that it leads to.
      const commit = await this.#known(ref);
      if (commit !== undefined) return commit;
    }
    const refspecs = refspecsOf(ref);
    await this.#fetchWithRoom(refspecs, options).catch(async (error: unknown) => {
      // Servers may refuse to serve a bare id; the commit is then looked for on every branch and tag.
      if (ref.type !== 'commit' || !(error instanceof InputError) || error.code !== 'git.ref-not-found')
        throw error;
      await this.#fetchRefspecs(['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'], options);
    });
    return this.resolve(ref);
  }

  /** An old ref `release` blocks `release/1.2`, and the other way round, until it is removed. */
  async #fetchWithRoom(refspecs: readonly string[], options: FetchOptions): Promise<void> {
    try {
      await this.#fetchRefspecs(refspecs, options);
    } catch (error) {
      if (!(error instanceof TransientError) || error.code !== 'git.name-taken') throw error;
      const followed = (await this.git(['for-each-ref', '--format=%(refname)', ...FOLLOWED], this.gitDir))
        .split('\n')
        .filter((name) => name !== '');
      for (const name of followed) await this.git(['update-ref', '-d', name], this.gitDir);
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

  /** Every fetch adds a pack; too many of them slow reading down. What nothing refers to goes after two weeks. */
  async tidy(): Promise<void> {
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

  async #known(ref: GitRef): Promise<string | undefined> {
    return this.resolve(ref).catch((error: unknown) => {
      if (error instanceof InputError) return undefined;
      throw error;
    });
  }

  async #fetchRefspecs(refspecs: readonly string[], { signal, onAnswered }: FetchOptions): Promise<void> {
    const { maxBytes = DEFAULT_MAX_BYTES, fetchTimeoutMs = DEFAULT_FETCH_TIMEOUT_MS } = this.#options;
    const stop = new AbortController();
    const watch = watchSize(this.gitDir, maxBytes, () => stop.abort());
    const signals = [
      stop.signal,
      AbortSignal.timeout(fetchTimeoutMs),
      ...(signal === undefined ? [] : [signal]),
    ];
    try {
      await runGitOrThrow({
        args: [...FETCH, this.#url.text, ...refspecs],
        environment: await this.#wireEnvironment(),
        cwd: this.gitDir,
        subject: `Git repository ${this.#url.text}`,
        signal: AbortSignal.any(signals),
        maxStdoutBytes: MAX_FETCH_STDOUT_BYTES,
      });
      onAnswered?.();
    } catch (error) {
      await removeLeftovers(this.gitDir);
      if (error instanceof InputError) tellRefused(error, this.#options.auth);
      if (stop.signal.aborted) throw this.#tooLarge(maxBytes);
      throw error;
    } finally {
      watch();
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

  async #wireEnvironment(): Promise<Record<string, string>> {
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

/** What a fetch writes. Our own names, by which commits are kept, are elsewhere. */
const FOLLOWED = ['refs/heads', 'refs/tags'] as const;

const FETCH = [
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

/** Makes the directory a bare repository for this URL. What is broken or follows another URL is only a cache: it goes. */
async function prepare(options: MirrorOptions, objectFormat = 'sha1'): Promise<void> {
  const { mirrorDir, url, ambient } = options;
  const environment = gitEnvironment({ gitDir: mirrorDir, ambient });
  const subject = `Git mirror ${mirrorDir}`;
  const recorded = await readFile(path.join(mirrorDir, URL_FILE), 'utf8').catch(() => undefined);
  if (recorded === url) {
    await removeLeftovers(mirrorDir);
    const probe = await runGit({
      args: ['rev-parse', '--is-bare-repository'],
      environment,
      cwd: mirrorDir,
      subject,
    });
    if (probe.ok && probe.stdout.trim() === 'true') return;
  }
  await clearMirror(mirrorDir);
  const made = await runGit({
    args: ['init', '--quiet', '--bare', '--template=', `--object-format=${objectFormat}`],
    environment,
    cwd: mirrorDir,
    subject,
  });
  if (!made.ok)
    throw new TransientError(`cannot be created: ${made.stderr.trim()}`, {
      code: 'git.mirror',
      subject,
      cause: made.error,
    });
  await writeFile(path.join(mirrorDir, URL_FILE), url, { mode: PRIVATE_FILE_MODE });
}
