import { join } from 'node:path';
import { openMirror } from '@berth/git-reader/open-mirror';
import type { GitMirror } from '@berth/git-reader/repository/git-repository';
import { InputError } from '@berth/runtime/errors';
import type { ServeSource } from '../../sources/progress/source-options.ts';

/** A pull request must not fill the disk. When the mirror exceeds this size, pull requests are not planned. */
const MAX_MIRROR_BYTES = 4 * 1024 ** 3;
const FETCH_TIMEOUT_MS = 120_000;

export interface PreviewRepositoryOptions {
  readonly source: Pick<ServeSource, 'url' | 'auth' | 'caFile'>;
  readonly name: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The commits of pull requests, in a mirror of their own. Commits that outside contributors push therefore never enter
 * the mirror that the hub is filled from. Fetches run one at a time.
 */
export class PreviewRepository {
  readonly #options: PreviewRepositoryOptions;
  readonly gitDir: string;
  #mirror: Promise<GitMirror> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PreviewRepositoryOptions) {
    this.#options = options;
    // The name of a source contains no dot, so the folder is unique.
    this.gitDir = join(options.dataDir, 'git', `${options.name}.previews`);
  }

  /** Fetches a branch of the repository. @returns the full id of its tip */
  fetchBranch(name: string, signal: AbortSignal): Promise<string> {
    return this.#next((mirror) => mirror.fetch({ type: 'branch', name }, { signal }));
  }

  /** Fetches a commit, also one of a pull request from a fork. @param id full */
  fetchCommit(id: string, signal: AbortSignal): Promise<string> {
    return this.#next((mirror) => mirror.fetch({ type: 'commit', id }, { signal }));
  }

  /** The full id of what a commit leaves in the repository. The commit must have been fetched. */
  treeOf(commit: string): Promise<string> {
    return this.#next(async (mirror) => (await mirror.commit(commit)).tree);
  }

  /** Whether `commit` is known to contain `earlier` in its history. Both must have been fetched. */
  holds(commit: string, earlier: string): Promise<boolean> {
    const baseIn = (mirror: GitMirror): Promise<string | undefined> =>
      mirror.mergeBase(commit, earlier).catch((error: unknown) => {
        // The remote itself is shallow.
        if (error instanceof InputError && error.code === 'git.shallow') return undefined;
        throw error;
      });
    return this.#next(async (mirror) => (await baseIn(mirror)) === earlier);
  }

  async close(): Promise<void> {
    await this.#last;
    await (await this.#mirror?.catch(() => undefined))?.close();
  }

  #next<T>(use: (mirror: GitMirror) => Promise<T>): Promise<T> {
    const result = this.#last.then(async () => use(await this.#open()));
    this.#last = result.catch(() => undefined);
    return result;
  }

  #open(): Promise<GitMirror> {
    const { source, env } = this.#options;
    const options = {
      url: source.url,
      auth: source.auth,
      caFile: source.caFile,
      mirrorDir: this.gitDir,
      ambient: env,
      fetchTimeoutMs: FETCH_TIMEOUT_MS,
      maxBytes: MAX_MIRROR_BYTES,
    };
    this.#mirror ??= openMirror(options, false).then(({ repository }) => repository);
    // If opening the mirror fails, the next call tries again.
    this.#mirror.catch(() => (this.#mirror = undefined));
    return this.#mirror;
  }
}
