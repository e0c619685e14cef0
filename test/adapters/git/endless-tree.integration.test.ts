import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitProgramRepository } from '../../../packages/git-reader/src/program/git-program-repository.ts';
import { InProcessRepository } from '../../../packages/git-reader/src/in-process/in-process-repository.ts';
import { SourceReader } from '../../../src/controllers/sources/reading/source-reader.ts';
import { GitFixture } from '../../../packages/git-reader/test/git-fixture.ts';

const WIDTH = 100;
const DEPTH = 5;

/** A commit whose tree names one subtree a hundred times, which names another a hundred times, and so on: 10^10 files in six objects. */
function endlessCommit(fixture: GitFixture): string {
  const env = { ...process.env, GIT_DIR: fixture.dir };
  const make = (args: string[], input: string): string =>
    execFileSync('git', args, { env, input, encoding: 'utf8' }).trim();
  let entry = `100644 blob ${make(['hash-object', '-w', '--stdin'], 'a: b\n')}`;
  for (let depth = 0; depth < DEPTH; depth++) {
    const lines = Array.from({ length: WIDTH }, (_, index) => `${entry}\tn${index}`);
    entry = `040000 tree ${make(['mktree'], `${lines.join('\n')}\n`)}`;
  }
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const commit = make([...identity, 'commit-tree', entry.split(' ')[2] ?? '', '-m', 'Endless'], '');
  fixture.git('update-ref', 'refs/heads/main', commit);
  return commit;
}

describe.each([
  ['the git program', (dir: string) => new GitProgramRepository({ gitDir: dir, ambient: process.env })],
  ['isomorphic-git', (dir: string) => new InProcessRepository(dir)],
] as const)('a tree without end, read with %s', (_name, open) => {
  let fixture: GitFixture;
  beforeEach(() => {
    fixture = new GitFixture();
  });
  afterEach(() => fixture.remove());

  it('is refused after a while, and the reader goes on with the next commit', async () => {
    const good = fixture.commit({ 'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' });
    const endless = endlessCommit(fixture);
    const repository = open(fixture.dir);
    const reader = new SourceReader(repository);
    await reader.read(good);
    await expect(reader.read(endless)).rejects.toMatchObject({
      name: 'InputError',
      code: 'git.too-many-files',
    });
    const next = fixture.commit(
      { 'b.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n' },
      { orphan: true },
    );
    expect((await reader.read(next)).objects.map(({ object }) => object.metadata.name)).toEqual(['b']);
    await repository.close();
  });
});
