import { readFile, rm } from 'node:fs/promises';
import path, { dirname } from 'node:path';
import type { MirrorOptions } from '@berth/git-reader/mirror/mirror-lock';
import { openMirror } from '@berth/git-reader/open-mirror';
import { type SignaturePolicy, SignatureVerifier } from '@berth/git-reader/program/commit-signature';
import { checkGitRef } from '@berth/git-reader/repository/git-ref';
import type { FetchOptions, GitMirror, GitRef } from '@berth/git-reader/repository/git-repository';
import { InputError, TransientError } from '@berth/runtime/errors';
import { writeFileAtomic, syncDirectory } from '@berth/runtime/files/atomic-file';
import { formatLocation } from '@berth/runtime/problem/source-location';
import { sha256 } from '@berth/runtime/sha256';
import type { SourceContent } from '../manifests/source-content.ts';
import type { ParsePool } from '../parsing/parse-pool.ts';
import type { ParsedCache } from '../parsing/parsed-cache.ts';
import type { LastCompleteStore } from './read-commit.ts';
import { SourceReader } from './source-reader.ts';

export interface GitSourcesOptions extends MirrorOptions {
  /** Absent: the default branch of the remote. */
  readonly ref?: GitRef | undefined;
  /**
   * Only commits signed by these keys are accepted; for any other commit `fetch` throws an
   * InputError and changes nothing.
   */
  readonly signatures?: SignaturePolicy | undefined;
  readonly pool?: ParsePool | undefined;
}

/** What one source reads of a commit. */
export interface SourceFiles {
  /** A DNS label, unique in the repository. */
  readonly name: string;
  /** Globs of manifests. Absent or empty: every YAML and JSON file. */
  readonly paths?: readonly string[] | undefined;
  readonly cache?: ParsedCache | undefined;
}

/** The open sources of one ref of one repository; each commit is read as the difference to the previous one. */
export interface GitSources {
  readonly repository: GitMirror;
  /** Whether there is no git program; see `openMirror`. */
  readonly inProcess: boolean;
  /**
   * Fetches from the remote. `changed`: the ref points to another commit than at the previous fetch
   * (true the first time).
   */
  fetch(options?: FetchOptions): Promise<{ readonly commit: string; readonly changed: boolean }>;
  /**
   * The commit that was last followed, also by a previous process with the same settings; undefined if there is none.
   */
  last(): Promise<string | undefined>;
  /**
   * Reads a commit, by default the last fetched one, for each source in their order. A broken file keeps its last good
   * objects.
   */
  read(commit?: string): Promise<readonly SourceContent[]>;
  /**
   * Deferred work after a commit was applied: stores the read state for the next start, and starts
   * maintenance of the mirror.
   */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** The only source of a repository. */
export interface GitSource extends Omit<GitSources, 'read'> {
  /** See `GitSources`. */
  read(commit?: string): Promise<SourceContent>;
}

/** @throws InputError see `openGitSources` */
export async function openGitSource(options: GitSourcesOptions & Partial<SourceFiles>): Promise<GitSource> {
  const { name = 'fleet', paths, cache } = options;
  const sources = await openGitSources(options, [{ name, paths, cache }]);
  return {
    ...sources,
    read: async (commit) => {
      const [content] = await sources.read(commit);
      return content as SourceContent;
    },
  };
}

/**
 * Opens the sources of a repository without using the network.
 * @throws InputError for an invalid URL, ref or glob, and for features that need a missing git program
 */
export async function openGitSources(
  options: GitSourcesOptions,
  files: readonly SourceFiles[],
): Promise<GitSources> {
  const ref = checkGitRef(options.ref ?? { type: 'head' });
  const verifier =
    options.signatures === undefined ? undefined : new SignatureVerifier(options.signatures, options.ambient);
  const { repository, inProcess } = await openMirror(options, verifier !== undefined);
  const { ambient, pool } = options;
  const readers = files.map(
    ({ name, paths, cache }) =>
      new SourceReader(repository, {
        ...{ paths, cache, ambient, pool, keepLastGood: true },
        lastComplete: lastCompleteIn(repository, name),
      }),
  );
  const { url, signatures, mirrorDir } = options;
  const followed = new LastFollowedCommit(path.join(mirrorDir, 'berth-followed'), [url, ref, signatures]);
  let [accepted, lastRead]: (string | undefined)[] = [];
  const damage = new MirrorDamage(mirrorDir);
  const maintenance = new MirrorMaintenance(() => repository.repack());
  return {
    repository,
    inProcess,
    async fetch(fetchOptions) {
      const recreations = repository.timesRecreated;
      const commit = await repository.fetch(ref, { ...fetchOptions, refetchAll: damage.isFound });
      const isNew = repository.timesRecreated !== recreations;
      // The state stored in the previous mirror no longer exists.
      if (isNew || damage.isFound) accepted = undefined;
      if (isNew) for (const memory of [followed, ...readers]) memory.fileRemoved();
      damage.fetched(commit);
      if (verifier !== undefined && commit !== accepted) {
        await verifier.check(options.mirrorDir, commit, await repository.tagOf(ref));
        await repository.pin('verified', commit);
      }
      const changed = commit !== accepted;
      accepted = commit;
      return { commit, changed };
    },
    async last() {
      const id = lastRead ?? (await followed.load());
      if (id === undefined) return undefined;
      return repository.resolve({ type: 'commit', id }).catch(() => undefined);
    },
    async read(commit) {
      const id = commit ?? accepted ?? (await lastAccepted(repository, options, ref));
      const contents = await damage.watch(id, id === accepted, () => readEach(readers, id));
      lastRead = id;
      return contents;
    },
    async settle() {
      if (lastRead !== undefined) await followed.store(lastRead);
      for (const reader of readers) await reader.settle();
      maintenance.begin();
    },
    async close() {
      await Promise.all(readers.map((reader) => reader.settle()))
        .finally(() => maintenance.end())
        .finally(() => repository.close());
      for (const { cache } of files) await cache?.close();
      await verifier?.close();
    },
  };
}

/** One after the other: they share threads and one `git` process. */
async function readEach(readers: readonly SourceReader[], commit: string): Promise<readonly SourceContent[]> {
  const contents: SourceContent[] = [];
  for (const reader of readers) contents.push(await reader.read(commit));
  return contents;
}

/**
 * Without a fetch in this process, the mirror still has the last fetched and the last accepted
 * commit.
 */
async function lastAccepted(
  repository: GitMirror,
  { url, signatures }: GitSourcesOptions,
  ref: GitRef,
): Promise<string> {
  const known =
    signatures === undefined ? await repository.resolve(ref) : await repository.pinned('verified');
  if (known !== undefined) return known;
  throw new InputError('contains no commit that passed the signature policy', {
    code: 'git.signature',
    subject: `Git repository ${url}`,
  });
}

function lastCompleteIn(repository: GitMirror, source: string): LastCompleteStore {
  const name = `complete-${source}` as const;
  return {
    load: () => repository.pinned(name),
    // If the disk is full, an older commit stays recorded. This can only keep objects, never lose them, so reading continues.
    store: (commit) =>
      repository.pin(name, commit).catch((error: unknown) => {
        if (!(error instanceof TransientError)) throw error;
      }),
  };
}

/**
 * Stores over restarts which commit a source followed last, so that it can be used while the remote
 * is unavailable, or offers only a refused commit. A commit from other settings (URL, ref, signers)
 * is ignored.
 */
export class LastFollowedCommit {
  readonly #file: string;
  readonly #settings: string;
  #stored: string | undefined;

  constructor(file: string, settings: unknown) {
    this.#file = file;
    this.#settings = sha256(JSON.stringify(settings));
  }

  async load(): Promise<string | undefined> {
    const text = await readFile(this.#file, 'utf8').catch(() => '');
    const [settings, commit] = text.trim().split(' ');
    return settings === this.#settings ? commit : undefined;
  }

  /** Forgets what was stored. Called when the file was removed, so that the next call of `store` writes it. */
  fileRemoved(): void {
    this.#stored = undefined;
  }

  /** Resolves when the commit is on disk. If it cannot be written, an older commit is removed as well. */
  async store(commit: string): Promise<void> {
    if (this.#stored === commit) return;
    this.#stored = commit;
    const directory = dirname(this.#file);
    try {
      await writeFileAtomic(this.#file, `${this.#settings} ${commit}\n`);
      await syncDirectory(directory);
    } catch {
      this.#stored = undefined;
      await rm(this.#file, { force: true });
      await syncDirectory(directory).catch(() => undefined);
    }
  }
}

/**
 * Detects objects that are missing in a mirror while commits are read, and makes the mirror fetch again, once for each
 * commit.
 */
class MirrorDamage {
  readonly #mirrorDir: string;
  #isFound = false;
  /**
   * The commit that was last fetched again; objects that are still missing are not on the remote
   * either.
   */
  #refetched: string | undefined;

  constructor(mirrorDir: string) {
    this.#mirrorDir = mirrorDir;
  }

  get isFound(): boolean {
    return this.#isFound;
  }

  /** Called when a fetch that repairs known damage brought this commit. */
  fetched(commit: string): void {
    if (this.#isFound) this.#refetched = commit;
    this.#isFound = false;
  }

  /**
   * Calls `read` for a commit.
   * @param isFetched whether the commit was fetched; then missing objects are an error, after which
   * it is fetched again
   */
  async watch(
    commit: string,
    isFetched: boolean,
    read: () => Promise<readonly SourceContent[]>,
  ): Promise<readonly SourceContent[]> {
    try {
      const contents = await read();
      if (isFetched && commit !== this.#refetched)
        for (const content of contents) this.#requireBlobs(content);
      return contents;
    } catch (error) {
      this.#isFound =
        commit !== this.#refetched && error instanceof TransientError && error.code === 'git.corrupt';
      throw error;
    }
  }

  #requireBlobs({ problems }: SourceContent): void {
    const missing = problems.find(({ code }) => code === 'git.missing-blob');
    if (missing === undefined) return;
    const place = missing.location === undefined ? '' : `${formatLocation(missing.location)}: `;
    const details = { code: 'git.corrupt', subject: `Git mirror ${this.#mirrorDir}` };
    throw new TransientError(`${place}${missing.message}`, details);
  }
}

/** Maintains a mirror in the background. Repacking takes seconds, and git allows fetches meanwhile. */
class MirrorMaintenance {
  readonly #repack: () => Promise<void>;
  #running: Promise<unknown> | undefined;
  #failed: { readonly error: unknown } | undefined;

  constructor(repack: () => Promise<void>) {
    this.#repack = repack;
  }

  /**
   * Does nothing while it is running.
   * @throws the error of the last run, once
   */
  begin(): void {
    const failed = this.#failed;
    this.#failed = undefined;
    this.#running ??= this.#repack()
      .catch((error: unknown) => (this.#failed = { error }))
      .finally(() => (this.#running = undefined));
    if (failed !== undefined) throw failed.error;
  }

  async end(): Promise<void> {
    await this.#running;
  }
}
