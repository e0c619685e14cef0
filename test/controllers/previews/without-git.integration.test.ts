import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { GitFixture } from '../../../packages/git-reader/test/fakes/git-fixture.ts';
import { withoutGit } from '../../../packages/git-reader/test/fakes/without-git.ts';
import { makeCliIo } from '../../app/cli-harness.ts';
import { baseFiles, placement, yaml } from '../../app/serve/fleet-fixture.ts';

const web = (numberOfClusters: number) => yaml(placement('web', { numberOfClusters }));

describe('commands on a clone where no git program exists', () => {
  let git: GitFixture;
  beforeEach(() => {
    git = new GitFixture();
    git.commit({ ...baseFiles, 'web.yaml': web(2) });
    git.run('checkout', '-q', '-b', 'change');
    git.commit({ 'web.yaml': web(3) });
    git.run('checkout', '-q', 'main');
  });
  afterEach(() => git.remove());

  async function berth(args: string, env: Record<string, string | undefined> = withoutGit()) {
    const { io, stdout, stderr } = makeCliIo({ cwd: git.path, env });
    const code = await runCli(args.split(' '), io);
    return { code, stdout: stdout(), stderr: stderr() };
  }
  const refused = (what: RegExp) => ({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(new RegExp(`${what.source}.* needs the git program[^]*install git`)),
  });

  it.each([
    ['plan --base main --head change', 2],
    ['plan --base main --head main', 0],
    ['explain team-a/web --ref change --from .', 0],
    ['explain team-a/web --ref change --since main --from .', 0],
    ['validate .', 0],
  ])('berth %s says the same as with git', async (args, code) => {
    const withGit = await berth(args, process.env);
    expect(withGit.code).toBe(code);
    expect(await berth(args)).toEqual(withGit);
  });

  it('berth plan compares, but does not merge on trial', async () => {
    git.commit({ 'other.yaml': web(1).replace('web', 'other') });
    expect(await berth('plan --base main --head change')).toMatchObject(refused(/merging it into main/));
    const alone = 'plan --base main --head change --from-merge-base';
    const withGit = await berth(alone, process.env);
    expect(withGit.code).toBe(2);
    expect(await berth(alone)).toEqual(withGit);
  });

  it('says what a revision needs, rather than that it is not there', async () => {
    for (const revision of ['change~1', 'change^', 'main@{0}', ':/change'])
      expect(await berth(`plan --base main --head ${revision}`)).toMatchObject(refused(/a revision/));
  });

  it.each<[string, (place: string) => string[]]>([
    ['a linked work tree', (place) => ['worktree', 'add', '-q', place, 'change']],
    ['a repository that borrows objects', (place) => ['clone', '-q', '--shared', '.', place]],
  ])('says that %s needs git, rather than that commits are missing', async (what, make) => {
    const place = `${git.path}/../${git.path.split('/').at(-1) ?? ''}-other`;
    git.run(...make(place));
    expect(await berth(`plan --base main --head HEAD --repo ${place}`)).toMatchObject(
      refused(new RegExp(what)),
    );
  });
});
