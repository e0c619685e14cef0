import type { GitRepository } from '../../../adapters/git/repository/git-repository.ts';
import { FleetReader, type FleetReaderOptions } from './fleet-reader.ts';

/** A controller that has followed a branch with broken files for longer than this is not predicted. */
const MAX_COMMITS = 50;

/**
 * The newest commit of a branch in which every file can be read: its objects stay as they were declared there while a later commit
 * cannot be read as a whole. Looks along the first parents, as a controller that follows the branch has seen them.
 * @param tip full id of a commit
 * @returns undefined when there is none among the last fifty
 */
export async function lastCompleteCommit(
  repository: GitRepository,
  tip: string,
  options: Omit<FleetReaderOptions, 'lastComplete'>,
): Promise<string | undefined> {
  const reader = new FleetReader(repository, options);
  let commit: string | undefined = tip;
  for (let looked = 0; commit !== undefined && looked < MAX_COMMITS; looked++) {
    const fleet = await reader.read(commit);
    if (fleet.complete) return commit;
    [commit] = fleet.commit?.parents ?? [];
  }
  return undefined;
}
