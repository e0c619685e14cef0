import { hasGitProgram } from './program/git-program.ts';
import { type GitProgramOptions, GitProgramRepository } from './program/git-program-repository.ts';
import type { GitRepository } from './repository/git-repository.ts';
import { requireReadable } from './in-process/in-process-limits.ts';

export interface OpenedRepository {
  readonly repository: GitRepository;
  readonly inProcess: boolean;
}

/**
 * Reads a repository on disk with the git program, or in process without one.
 * @throws InputError `git.needs-program`
 */
export async function openRepository(options: GitProgramOptions): Promise<OpenedRepository> {
  if (await hasGitProgram(options.ambient))
    return { repository: new GitProgramRepository(options), inProcess: false };
  await requireReadable(options.gitDir);
  // Loaded only if needed, since it takes a quarter of a second.
  const { InProcessRepository } = await import('./in-process/in-process-repository.ts');
  return { repository: new InProcessRepository(options.gitDir), inProcess: true };
}
