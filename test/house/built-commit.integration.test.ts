import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/write-build.mjs');
const COMMIT_OF_IMAGE = '5'.repeat(40);

let clone: GitFixture;
let head: string;
beforeEach(() => {
  clone = new GitFixture();
  head = clone.commit({ 'a.txt': 'a', '.gitignore': 'dist' }, 'First');
  mkdirSync(join(clone.path, 'dist/src/app/cli'), { recursive: true });
  writeFileSync(join(clone.path, 'dist/src/app/cli/main.js'), '');
});
afterEach(() => clone.remove());

const WITHOUT_GIT = { PATH: '' };

it.each([
  { where: 'in a clone', wants: () => head },
  {
    where: 'in a clone with a changed file',
    given: () => writeFileSync(join(clone.path, 'a.txt'), 'b'),
    wants: () => `${head}-dirty`,
  },
  { where: 'in a clone, without the git program', env: WITHOUT_GIT, wants: () => head },
  {
    where: 'in a clone with packed refs, without the git program',
    given: () => clone.run('pack-refs', '--all'),
    env: WITHOUT_GIT,
    wants: () => head,
  },
  {
    where: 'at a detached head, without the git program',
    given: () => clone.run('checkout', '-q', '--detach'),
    env: WITHOUT_GIT,
    wants: () => head,
  },
  {
    where: 'in an image that is built without a clone',
    given: () => renameSync(join(clone.path, '.git'), join(clone.path, 'elsewhere')),
    env: { BERTH_COMMIT: COMMIT_OF_IMAGE },
    wants: () => COMMIT_OF_IMAGE,
  },
  {
    where: 'without a clone',
    given: () => renameSync(join(clone.path, '.git'), join(clone.path, 'elsewhere')),
    wants: () => 'unknown',
  },
])('a build knows its commit $where', ({ given, env, wants }) => {
  given?.();
  const run = spawnSync(process.execPath, [SCRIPT], {
    cwd: clone.path,
    env: { ...process.env, BERTH_COMMIT: '', ...env },
    encoding: 'utf8',
  });
  expect(run.stderr).toBe('');
  expect(JSON.parse(readFileSync(join(clone.path, 'dist/build.json'), 'utf8'))).toEqual({ commit: wants() });
});

it('a built command can be executed, as a link of npm does', () => {
  spawnSync(process.execPath, [SCRIPT], { cwd: clone.path });
  expect(statSync(join(clone.path, 'dist/src/app/cli/main.js')).mode & 0o111).toBe(0o111);
});
