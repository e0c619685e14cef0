import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diffSmallTrees } from '../../src/program/cat-file-trees.ts';
import { CatFile } from '../../src/program/cat-file.ts';
import { gitEnvironment } from '../../src/program/git-environment.ts';
import { GitProgramRepository } from '../../src/program/git-program-repository.ts';
import type { TreeChange } from '../../src/repository/git-repository.ts';
import { type FixtureFile, GitFixture } from '../git-fixture.ts';

const ID = '0123456789012345678901234567890123456789';
const many = (text: string): Record<string, FixtureFile> =>
  Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`many/d${i}/f.yaml`, `${text} ${i}\n`]));

/** `git diff-tree -r -z --raw --no-renames`: `:mode mode id id status\0path\0`. */
function parseTreeDiff(output: string): TreeChange[] {
  const changes: TreeChange[] = [];
  const fields = output.split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = '', , id = '', status] = (fields[at] ?? '').split(' ');
    const path = fields[at + 1] ?? '';
    changes.push({ path, entry: status === 'D' ? undefined : { path, mode, id } });
  }
  return changes;
}

describe('the difference of two commits through cat-file', () => {
  let fixture: GitFixture;
  let catFile: CatFile;
  let repository: GitProgramRepository;
  beforeAll(() => {
    fixture = new GitFixture();
    catFile = new CatFile(fixture.dir, gitEnvironment({ gitDir: fixture.dir, ambient: process.env }));
    repository = new GitProgramRepository({ gitDir: fixture.dir, ambient: process.env });
  });
  afterAll(async () => {
    await Promise.all([catFile.close(), repository.close()]);
  });

  const byPath = (changes: readonly TreeChange[]): readonly TreeChange[] =>
    changes.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const asGitSays = (from: string, to: string): readonly TreeChange[] => {
    const raw = fixture.git('diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to);
    return byPath(parseTreeDiff(raw));
  };

  it.each<[string, Record<string, FixtureFile>]>([
    ['nothing', {}],
    ['a file deep down', { 'a/b/c/d.yaml': 'new\n' }],
    ['a file that becomes a folder', { 'a/x': null, 'a/x/y.yaml': 'in\n', 'a/x/z.yaml': 'in\n' }],
    ['a folder that becomes a file', { 'a/b/c/d.yaml': null, 'a/b': 'flat\n' }],
    ['a file that becomes a link, and one a submodule', { 'a/x': { symlink: 'b' }, top: { submodule: ID } }],
    ['names that sort otherwise as folders', { 'a.b': '1\n', 'a-b': '2\n', 'a/0': '3\n' }],
    ['a name with blanks', { 'a/ b ': '2\n' }],
  ])('is what git diff-tree says: %s', async (_name, files) => {
    const branch = `b${Math.random().toString(36).slice(2)}`;
    const base = { 'a/b/c/d.yaml': 'old\n', 'a/x': 'x\n', top: 't\n', 'other/f.yaml': 'f\n' };
    const from = fixture.commit(base, { branch, orphan: true });
    const to = fixture.commit(files, { branch });
    for (const [one, two] of [
      [from, to],
      [to, from],
    ] as const) {
      const small = await diffSmallTrees(catFile, one, two);
      expect(byPath(small ?? [])).toEqual(asGitSays(one, two));
      expect(small).toBeDefined();
    }
  });

  it.each<[string, Record<string, FixtureFile>]>([['many folders', many('new')]])(
    'is left to git ls-tree: %s',
    async (_name, files) => {
      const from = fixture.commit(many('old'), { branch: 'many', orphan: true });
      const to = fixture.commit(files, { branch: 'many' });
      expect(await diffSmallTrees(catFile, from, to)).toBeUndefined();
      expect(byPath(await repository.diffTrees(from, to))).toEqual(asGitSays(from, to));
    },
  );

  it('is left to git ls-tree: a name that is not UTF-8', async () => {
    const from = fixture.commit({ 'n/a': '1\n' }, { branch: 'names', orphan: true });
    fixture.fastImport(
      Buffer.concat([
        Buffer.from(`commit refs/heads/names\ncommitter A <a@b> 1700000001 +0000\ndata 1\nx\nfrom ${from}\n`),
        Buffer.from('M 100644 inline n/'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('\ndata 1\ny\n\n'),
      ]),
    );
    const to = fixture.git('rev-parse', 'names');
    expect(await diffSmallTrees(catFile, from, to)).toBeUndefined();
    expect(await repository.diffTrees(from, to)).toHaveLength(1);
  });

  it('is an error for a commit that is not there', async () => {
    const from = fixture.commit({ 'n/a': '1\n' }, { branch: 'lone', orphan: true });
    expect(await diffSmallTrees(catFile, from, ID)).toBeUndefined();
    await expect(repository.diffTrees(from, ID)).rejects.toThrow();
  });

  it('reads ids of SHA-256', async () => {
    const root = mkdtempSync(join(tmpdir(), 'berth-sha256-'));
    const gitDir = join(root, 'x.git');
    const git = (args: string[], input = ''): string =>
      execFileSync('git', args, { env: { ...process.env, GIT_DIR: gitDir }, input, encoding: 'utf8' }).trim();
    git(['init', '-q', '--bare', '--object-format=sha256', '-b', 'main', gitDir]);
    const commit = (text: string): string => {
      const head = 'commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\n';
      git(['fast-import', '--quiet', '--force'], `${head}M 100644 inline d/f\ndata 1\n${text}\n`);
      return git(['rev-parse', 'main']);
    };
    const [from, to] = [commit('1'), commit('2')];
    const own = new CatFile(gitDir, gitEnvironment({ gitDir, ambient: process.env }));
    const changes = await diffSmallTrees(own, from, to);
    const id = git(['rev-parse', `${to}:d/f`]);
    expect(changes).toEqual([{ path: 'd/f', entry: { path: 'd/f', mode: '100644', id } }]);
    await own.close();
    rmSync(root, { recursive: true });
  });
});
