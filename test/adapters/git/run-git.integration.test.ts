import { getPriority } from 'node:os';
import { describe, expect, it } from 'vitest';
import { gitEnvironment } from '../../../src/adapters/git/program/git-environment.ts';
import { runGitOrThrow } from '../../../src/adapters/git/program/run-git.ts';
import { tempDir } from './git-fixture.ts';

describe('a git command', () => {
  const niceness = async (inBackground: boolean): Promise<number> => {
    const cwd = tempDir();
    // An alias that is a shell command: git itself is asked for nothing.
    const args = ['-c', 'alias.niceness=!nice', 'niceness'];
    const environment = gitEnvironment({ gitDir: cwd, ambient: process.env });
    return Number(await runGitOrThrow({ args, environment, cwd, subject: cwd, inBackground }));
  };

  it.skipIf(process.platform === 'win32')('in the background gives way to everything else', async () => {
    expect(await niceness(false)).toBe(getPriority());
    // It may have started the shell before it was told.
    await expect.poll(() => niceness(true)).toBe(19);
  });
});
