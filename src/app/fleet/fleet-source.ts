import { GitProgramMirror } from '../../adapters/git/git-program-mirror.ts';
import type { MirrorOptions } from '../../adapters/git/git-program-mirror.ts';
import { checkGitRef } from '../../adapters/git/git-ref.ts';
import type { GitMirror, GitRef } from '../../adapters/git/git-repository.ts';
import type { Fleet } from './fleet.ts';
import { FleetReader } from './fleet-reader.ts';

export interface FleetSourceOptions extends MirrorOptions {
  /** Absent: the remote's default branch. */
  readonly ref?: GitRef | undefined;
  readonly paths?: readonly string[] | undefined;
}

/** One Git source, kept open; each commit is read as the difference to the one before. */
export interface FleetSource {
  readonly repository: GitMirror;
  /** Asks the remote. `moved`: the ref stands for another commit than at the fetch before (true the first time). */
  fetch(signal?: AbortSignal): Promise<{ readonly commit: string; readonly moved: boolean }>;
  /** Reads a commit, the one fetched last when none is named. A broken file keeps its last good objects. */
  read(commit?: string): Promise<Fleet>;
  close(): Promise<void>;
}

/** Opens a source without touching the network. InputError for a bad URL, ref or glob. */
export async function openFleetSource(options: FleetSourceOptions): Promise<FleetSource> {
  const ref = checkGitRef(options.ref ?? { type: 'head' });
  const repository = await GitProgramMirror.open(options);
  const reader = new FleetReader(repository, {
    paths: options.paths,
    keepLastGood: true,
    ambient: options.ambient,
  });
  let fetched: string | undefined;
  return {
    repository,
    async fetch(signal) {
      const commit = await repository.fetch(ref, { signal });
      const moved = commit !== fetched;
      fetched = commit;
      return { commit, moved };
    },
    // Without a fetch in this process the mirror still knows what the last one brought.
    read: async (commit) => reader.read(commit ?? fetched ?? (await repository.resolve(ref))),
    close: () => repository.close(),
  };
}
