import path from 'node:path';
import type { MirrorOptions } from '@berth/git-reader/mirror/mirror-options';
import { openMirror } from '@berth/git-reader/open-mirror';
import { SignatureVerifier } from '@berth/git-reader/program/commit-signature';
import type { SignaturePolicy } from '@berth/git-reader/program/commit-signature';
import { InputError, TransientError } from '@berth/runtime/errors';
import { checkGitRef } from '@berth/git-reader/repository/git-ref';
import type { FetchOptions, GitMirror, GitRef } from '@berth/git-reader/repository/git-repository';
import type { SourceContent } from '../manifests/source-content.ts';
import type { ParsePool } from '../parsing/parse-pool.ts';
import type { ParsedCache } from '../parsing/parsed-cache.ts';
import { SourceReader } from './source-reader.ts';
import type { LastCompleteStore } from './source-reader-options.ts';
import { LastFollowedCommit } from './last-followed-commit.ts';
import { MirrorDamage } from './mirror-damage.ts';
import { MirrorMaintenance } from './mirror-maintenance.ts';

export interface GitSourceOptions extends MirrorOptions {
  /** Absent: the default branch of the remote. */
  readonly ref?: GitRef | undefined;
  readonly paths?: readonly string[] | undefined;
  /**
   * Only commits signed by these keys are accepted; for any other commit `fetch` throws an
   * InputError and changes nothing.
   */
  readonly signatures?: SignaturePolicy | undefined;
  readonly cache?: ParsedCache | undefined;
  readonly pool?: ParsePool | undefined;
}

/** An open Git source; each commit is read as the difference to the previous one. */
export interface GitSource {
  readonly repository: GitMirror;
  /** Whether there is no git program; see `openMirror`. */
  readonly inProcess: boolean;
  /**
   * Fetches from the remote. `moved`: the ref points to another commit than at the previous fetch
   * (true the first time).
   */
  fetch(options?: FetchOptions): Promise<{ readonly commit: string; readonly moved: boolean }>;
  /**
   * The commit that was last followed, also by a previous process with the same settings; undefined if there is none.
   */
  last(): Promise<string | undefined>;
  /** Reads a commit, by default the last fetched one. A broken file keeps its last good objects. */
  read(commit?: string): Promise<SourceContent>;
  /**
   * Deferred work after a commit was applied: stores the read state for the next start, and starts
   * maintenance of the mirror.
   */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a source without using the network.
 * @throws InputError for an invalid URL, ref or glob, and for features that need a missing git program
 */
export async function openGitSource(options: GitSourceOptions): Promise<GitSource> {
  const ref = checkGitRef(options.ref ?? { type: 'head' });
  const verifier =
    options.signatures === undefined ? undefined : new SignatureVerifier(options.signatures, options.ambient);
  const { repository, inProcess } = await openMirror(options, verifier !== undefined);
  const reader = new SourceReader(repository, {
    paths: options.paths,
    keepLastGood: true,
    ambient: options.ambient,
    cache: options.cache,
    pool: options.pool,
    lastComplete: lastCompleteIn(repository),
  });
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
      if (isNew) for (const memory of [followed, reader]) memory.fileRemoved();
      damage.fetched(commit);
      if (verifier !== undefined && commit !== accepted) {
        await verifier.check(options.mirrorDir, commit, await repository.tagOf(ref));
        await repository.pin('verified', commit);
      }
      const moved = commit !== accepted;
      accepted = commit;
      return { commit, moved };
    },
    async last() {
      const id = lastRead ?? (await followed.load());
      if (id === undefined) return undefined;
      return repository.resolve({ type: 'commit', id }).catch(() => undefined);
    },
    async read(commit) {
      const id = commit ?? accepted ?? (await lastAccepted(repository, options, ref));
      const content = await damage.watch(id, id === accepted, () => reader.read(id));
      lastRead = id;
      return content;
    },
    async settle() {
      if (lastRead !== undefined) await followed.store(lastRead);
      await reader.settle();
      maintenance.begin();
    },
    async close() {
      await reader
        .settle()
        .finally(() => maintenance.end())
        .finally(() => repository.close());
      await options.cache?.close();
      await verifier?.close();
    },
  };
}

/**
 * Without a fetch in this process, the mirror still has the last fetched and the last accepted
 * commit.
 */
async function lastAccepted(
  repository: GitMirror,
  { url, signatures }: GitSourceOptions,
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

function lastCompleteIn(repository: GitMirror): LastCompleteStore {
  return {
    load: () => repository.pinned('complete'),
    // If the disk is full, an older commit stays recorded. This can only keep objects, never lose them, so reading continues.
    store: (commit) =>
      repository.pin('complete', commit).catch((error: unknown) => {
        if (!(error instanceof TransientError)) throw error;
      }),
  };
}
