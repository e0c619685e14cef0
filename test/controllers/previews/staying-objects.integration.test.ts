import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { GitFixture } from '../../../packages/git-reader/test/fakes/git-fixture.ts';
import { makeCliIo } from '../../app/cli-harness.ts';
import { baseFiles, placement, yaml } from '../../app/serve/fleet-fixture.ts';

const [web, batch] = ['web', 'batch'].map((name) => yaml(placement(name, { numberOfClusters: 1 })));
const PLAYBOOK = { 'ansible/deploy.yml': '- hosts: hub\n' };
const BROKEN = { 'web.yaml': 'a: [' };
const STAYS =
  'Placement team-a/batch left Git and stays: web.yaml cannot be read (nothing of the source is deleted)';

describe('the plan of a commit that drops an object', () => {
  let git: GitFixture;
  beforeEach(() => {
    git = new GitFixture();
    git.commit({ ...baseFiles, 'web.yaml': web, 'batch.yaml': batch });
  });
  afterEach(() => git.remove());

  async function plan(base: string) {
    const { io, stdout } = makeCliIo({ cwd: git.path });
    const code = await runCli(['plan', '--base', base, '--head', 'HEAD'], io);
    return { code, stdout: stdout() };
  }

  it.each([
    ['before', 'HEAD~1', [PLAYBOOK, { 'batch.yaml': undefined }]],
    ['in the same change', 'HEAD~2', [PLAYBOOK, { 'batch.yaml': undefined }]],
    ['in the same commit', 'HEAD~1', [{ ...PLAYBOOK, 'batch.yaml': undefined }]],
    ['afterwards', 'HEAD~2', [{ 'batch.yaml': undefined }, PLAYBOOK]],
  ])('is the same if a file that holds no object came %s', async (_, base, commits) => {
    for (const files of commits) git.commit(files);
    const { code, stdout } = await plan(base);
    expect(code).toBe(2);
    expect(stdout).toContain('- Placement team-a/batch');
    expect(stdout).not.toContain('left Git and stays');
  });

  it.each([
    ['before', 'HEAD~1', [BROKEN, { 'batch.yaml': undefined }], 2],
    // The change itself breaks the file, which is an error.
    ['in the same change', 'HEAD~2', [BROKEN, { 'batch.yaml': undefined }], 1],
    ['in the same commit', 'HEAD~1', [{ ...BROKEN, 'batch.yaml': undefined }], 1],
    ['afterwards', 'HEAD~2', [{ 'batch.yaml': undefined }, BROKEN], 1],
  ])('names what stays if a manifest broke %s', async (_, base, commits, wanted) => {
    for (const files of commits) git.commit(files);
    const { code, stdout } = await plan(base);
    expect(code).toBe(wanted);
    expect(stdout).toContain(STAYS);
    expect(stdout).not.toContain('- Placement team-a/batch');
  });

  it('does not count again what stayed before', async () => {
    for (const files of [BROKEN, { 'batch.yaml': undefined }, { 'notes.md': 'x' }]) git.commit(files);
    const { code, stdout } = await plan('HEAD~1');
    expect(code).toBe(0);
    expect(stdout).toContain(STAYS);
  });

  it('is refused in a shallow clone, where it is unknown what the file declared before', async () => {
    for (const files of [BROKEN, { 'batch.yaml': undefined }]) git.commit(files);
    const clone = `${git.path}/clone`;
    git.run('clone', '-q', '--depth', '2', `file://${git.path}`, clone);
    const { io, stderr } = makeCliIo({ cwd: clone });
    expect(await runCli(['plan', '--base', 'HEAD~1', '--head', 'HEAD'], io)).toBe(1);
    expect(stderr()).toMatch(/web.yaml[^]*shallow[^]*git fetch --unshallow/);
  });
});
