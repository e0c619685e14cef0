import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEnclosingGitDir, resolveGitDir } from '../../src/repository/git-dir.ts';
import { GitFixture, tempDir } from '../git-fixture.ts';

describe('the Git directory of a folder', () => {
  let fixture: GitFixture;
  let root: string;
  beforeAll(() => {
    fixture = new GitFixture();
    fixture.commit({ 'deep/er/a.yaml': 'a: 1\n' });
    root = realpathSync(tempDir());
    const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, stdio: 'ignore' });
    git(root, 'clone', fixture.dir, 'clone');
    git(path.join(root, 'clone'), 'worktree', 'add', '../linked', '-b', 'other');
    mkdirSync(path.join(root, 'near'));
    writeFileSync(path.join(root, 'near', '.git'), 'gitdir: ../clone/.git\n');
    mkdirSync(path.join(root, 'clone', 'odd'));
    writeFileSync(path.join(root, 'clone', 'odd', '.git'), 'names nothing\n');
    git(root, 'clone', '--bare', fixture.dir, 'bare');
    mkdirSync(path.join(root, 'half', 'objects'), { recursive: true });
    writeFileSync(path.join(root, 'half', 'HEAD'), 'ref: refs/heads/main\n');
  });
  afterAll(() => {
    fixture.remove();
    rmSync(root, { recursive: true, force: true });
  });

  it.each([
    { name: 'of a work tree', given: 'clone', want: ['clone/.git', 'clone'] },
    { name: 'of a folder inside one', given: 'clone/deep/er', want: ['clone/.git', 'clone'] },
    { name: 'of a folder whose .git says nothing', given: 'clone/odd', want: ['clone/.git', 'clone'] },
    { name: 'of a linked work tree', given: 'linked/deep', want: ['clone/.git/worktrees/linked', 'linked'] },
    { name: 'that a .git names by a relative path', given: 'near', want: ['clone/.git', 'near'] },
    { name: 'of a bare repository', given: 'bare', want: ['bare', 'bare'] },
    { name: 'of a folder inside a bare repository', given: 'bare/refs/heads', want: ['bare', 'bare'] },
    { name: 'of what only begins like a bare repository', given: 'half', want: undefined },
    { name: 'of a folder beside repositories', given: '.', want: undefined },
  ])('$name', async ({ given, want }) => {
    const [gitDir, top] = (want ?? []).map((place) => path.join(root, place));
    const folder = path.join(root, given);
    expect(await findEnclosingGitDir(folder)).toEqual(want && { gitDir, top });
    expect(await resolveGitDir(folder)).toBe(top === path.resolve(folder) ? gitDir : undefined);
  });
});
