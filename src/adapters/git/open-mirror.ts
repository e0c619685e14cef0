import { hasGitProgram, needsGitProgram } from './program/git-program.ts';
import { GitProgramMirror } from './program/git-program-mirror.ts';
import type { MirrorOptions } from './mirror/mirror-options.ts';
import type { GitMirror } from './repository/git-repository.ts';

export interface OpenedMirror {
  readonly repository: GitMirror;
  /** There is no git program: several times slower, with packs in memory. */
  readonly inProcess: boolean;
}

/**
 * Follows a remote with the git program, in process where there is none. What only the git program can do (ssh, and checking
 * signatures: `isSigned`) is then an InputError `git.needs-program`, never left out.
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
  // A quarter of a second that a start with git need not wait for.
  const { InProcessMirror } = await import('./in-process/in-process-mirror.ts');
  return { repository: await InProcessMirror.open(options), inProcess: true };
}
