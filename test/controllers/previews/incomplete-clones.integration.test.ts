import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { GitFixture } from '../../../packages/git-reader/test/fakes/git-fixture.ts';
import { withoutGit } from '../../../packages/git-reader/test/fakes/without-git.ts';
import { makeCliIo } from '../../app/cli-harness.ts';
import { baseFiles, placement, yaml } from '../../app/serve/fleet-fixture.ts';

const web = (numberOfClusters: number) => yaml(placement('web', { numberOfClusters }));

const SHALLOW = /shallow[^]*git fetch --unshallow[^]*fetch-depth: 0[^]*GIT_DEPTH: 0/;
const PARTIAL = /partial clone[^]*clone without --filter/;

describe('berth plan in a clone that lacks a part of the remote', () => {
  let remote: GitFixture;
  let folder: string;
  /** `change` branched off from the first commit; main has moved on by three commits. */
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'berth-clone-'));
    remote = new GitFixture();
    remote.run('config', 'uploadpack.allowFilter', 'true');
    remote.commit({ ...baseFiles, 'web.yaml': web(2) });
    remote.run('checkout', '-q', '-b', 'change');
    remote.commit({ 'notes.md': 'one' });
    remote.commit({ 'notes.md': 'two' });
    remote.run('checkout', '-q', 'main');
    for (const count of [3, 2, 1]) remote.commit({ 'web.yaml': web(count) });
  });
  afterEach(() => {
    remote.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  function clone(...options: readonly string[]): string {
    const place = path.join(folder, 'clone');
    remote.run('clone', '-q', ...options, `file://${remote.path}`, place);
    return place;
  }
  async function plan(
    repo: string,
    { base = 'origin/main', head = 'origin/change', more = '', env = process.env } = {},
  ) {
    const { io, stdout, stderr } = makeCliIo({ cwd: repo, env });
    const code = await runCli(`plan --base ${base} --head ${head} ${more}`.trim().split(' '), io);
    return { code, stdout: stdout(), stderr: stderr() };
  }
  const idOf = (revision: string): string => remote.run('rev-parse', revision).trim();
  const refused = (text: RegExp) => ({ code: 1, stdout: '', stderr: expect.stringMatching(text) });

  it.each([
    ['of one commit', ['--depth', '1', '--no-single-branch'], ''],
    ['of one commit, for the merge base', ['--depth', '1', '--no-single-branch'], '--from-merge-base'],
    ['of one branch', ['--depth', '1', '-b', 'change'], ''],
    ['of two commits', ['--depth', '2', '--no-single-branch'], ''],
    ['whose history ends on one side only', ['--depth', '3', '--no-single-branch'], ''],
  ])('refuses a shallow clone %s, whatever reads it', async (_, options, more) => {
    const place = clone(...options);
    expect(await plan(place, { more })).toMatchObject(refused(SHALLOW));
    expect(await plan(place, { more, env: withoutGit() })).toMatchObject(refused(SHALLOW));
  });

  it('refuses a shallow clone in which a merge of the target hides a better base', async () => {
    // The change took over main's second commit. That merge is the last commit of the clone on its side.
    remote.run('checkout', '-q', 'change');
    remote.run('merge', '-q', '-m', 'back', 'main~1');
    remote.commit({ 'notes.md': 'three' });
    remote.run('checkout', '-q', 'main');
    remote.run('merge', '-q', '-m', 'of the beginning', 'change~3');
    for (const count of [2, 1]) remote.commit({ 'web.yaml': web(count) });
    const place = clone('--depth', '2', '--no-single-branch');
    expect(await plan(place)).toMatchObject(refused(SHALLOW));
    expect(await plan(place, { env: withoutGit() })).toMatchObject(refused(SHALLOW));
  });

  it('plans in a shallow clone that has the commit where the branches meet', async () => {
    const whole = await plan(clone());
    rmSync(path.join(folder, 'clone'), { recursive: true });
    const shallow = await plan(clone('--depth', '4', '--no-single-branch'));
    expect(shallow).toEqual(whole);
    expect(shallow.code).toBe(0);
  });

  it('plans in a shallow clone in which the base is an ancestor of the head', async () => {
    remote.run('checkout', '-q', '-b', 'ahead', 'main');
    remote.commit({ 'web.yaml': web(2) });
    const place = clone('--depth', '2', '--no-single-branch', '-b', 'ahead');
    const given = { head: 'origin/ahead' };
    expect(await plan(place, given)).toMatchObject({ code: 2 });
    expect((await plan(place, { ...given, env: withoutGit() })).stdout).toBe(
      (await plan(place, given)).stdout,
    );
  });

  it('refuses a linked work tree of a shallow clone', async () => {
    const place = clone('--depth', '1', '--no-single-branch');
    const linked = path.join(folder, 'linked');
    remote.run('-C', place, 'worktree', 'add', '-q', linked, 'origin/change');
    expect(await plan(linked, { head: 'HEAD' })).toMatchObject(refused(SHALLOW));
  });

  it('does not believe grafts, which give a commit other parents', async () => {
    const place = clone();
    const whole = await plan(place);
    const [base, first] = [idOf('main'), idOf('change~1')];
    remote.run('-C', place, 'config', 'advice.graftFileDeprecated', 'false');
    mkdirSync(path.join(place, '.git/info'), { recursive: true });
    writeFileSync(path.join(place, '.git/info/grafts'), `${first} ${base}\n`);
    expect(await plan(place)).toEqual(whole);
  });

  it('plans branches with several merge bases', async () => {
    const [theirs, ours] = [idOf('change'), idOf('main')];
    remote.run('merge', '-q', '-m', 'one way', theirs);
    remote.run('checkout', '-q', 'change');
    remote.run('merge', '-q', '-m', 'the other way', ours);
    remote.commit({ 'web.yaml': web(2) });
    remote.run('checkout', '-q', 'main');
    remote.commit({ 'notes.md': 'four' });
    expect(await plan(clone())).toMatchObject({ code: 2 });
    rmSync(path.join(folder, 'clone'), { recursive: true });
    expect(await plan(clone('--depth', '3', '--no-single-branch'))).toMatchObject(refused(SHALLOW));
  });

  it('says what to fetch if a commit is not there', async () => {
    const missing = { base: 'f'.repeat(40) };
    expect(await plan(clone(), missing)).toMatchObject(refused(/not found[^]*git fetch origin/));
    rmSync(path.join(folder, 'clone'), { recursive: true });
    expect(await plan(clone('--depth', '1'), missing)).toMatchObject(refused(SHALLOW));
  });

  it.each([
    ['without files', ['--filter=blob:none', '--no-checkout']],
    ['without folders', ['--filter=tree:0', '--no-checkout']],
  ])('refuses a partial clone %s, whatever reads it', async (_, options) => {
    const place = clone(...options);
    expect(await plan(place)).toMatchObject(refused(PARTIAL));
    const alone = { env: withoutGit(), more: '--from-merge-base' };
    expect(await plan(place, alone)).toMatchObject(refused(PARTIAL));
  });

  it('plans in a sparse partial clone whose files were all fetched', async () => {
    const place = clone('--filter=blob:none', '--sparse');
    const given = { head: 'origin/main' };
    expect(await plan(place, given)).toMatchObject({ code: 0 });
    expect(await plan(place, { ...given, env: withoutGit() })).toMatchObject({ code: 0 });
  });
});
