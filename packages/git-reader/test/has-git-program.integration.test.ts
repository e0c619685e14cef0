import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasGitProgram } from '../src/program/git-program.ts';
import { tempDir } from './git-fixture.ts';

/** A folder with a file `git` of this mode in it. */
function folderWith(mode: number): string {
  const folder = tempDir();
  writeFileSync(path.join(folder, 'git'), '#!/bin/sh\nexit 1\n');
  chmodSync(path.join(folder, 'git'), mode);
  return folder;
}

describe('whether there is a git program', () => {
  const empty = tempDir();
  it.each([
    { name: 'in the last of the folders', PATH: [empty, folderWith(0o755)].join(':'), want: true },
    { name: 'nowhere: it may not be executed', PATH: folderWith(0o644), want: false },
    { name: 'in none of them', PATH: [empty, path.join(empty, 'absent')].join(':'), want: false },
    { name: 'as the machine has it', PATH: process.env['PATH'], want: true },
    { name: 'nowhere, found by starting it: a folder is relative', PATH: `${empty}:not-there`, want: false },
    { name: 'by starting it: PATH is empty', PATH: '', want: false },
  ])('$name', async ({ PATH, want }) => {
    expect(await hasGitProgram({ PATH })).toBe(want);
  });

  it('a folder called git is none', async () => {
    const folder = tempDir();
    mkdirSync(path.join(folder, 'git'));
    expect(await hasGitProgram({ PATH: folder })).toBe(false);
  });
});
