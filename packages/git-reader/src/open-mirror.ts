import { hasGitProgram, needsGitProgram } from './program/git-program.ts';
import { GitProgramMirror } from './program/git-program-mirror.ts';
import type { MirrorOptions } from './mirror/mirror-options.ts';
import type { GitMirror } from './repository/git-repository.ts';

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
