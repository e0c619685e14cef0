import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { GitFixture } from '../../../packages/git-reader/test/fakes/git-fixture.ts';
import { hasKubectl } from '../../e2e/kubectl-program.ts';
import { makeCliIo } from '../../app/cli-harness.ts';
import { placement, yaml } from '../../app/serve/fleet-fixture.ts';

let git: GitFixture;
beforeEach(() => {
  git = new GitFixture();
  const web = yaml(placement('web', { numberOfClusters: 1 }));
  git.commit({ 'fleet/kustomization.yaml': 'resources: [web.yaml]\n', 'fleet/web.yaml': web });
  git.commit({ 'fleet/new.yaml': web.replace('name: web', 'name: new') });
});
afterEach(() => git.remove());

it.runIf(hasKubectl()).each([
  [
    ['plan', '--base', 'HEAD~1', '--head', 'HEAD'],
    /Not evaluated:[^]*fleet\/new\.yaml: a manifest that no kust/,
  ],
  [['validate', '.'], /fleet\/new\.yaml:1:1: warning: fleet\/new\.yaml: a manifest that no[^]*2 files, /],
])('berth %j names a manifest that no kustomization names', async (args, text) => {
  const { io, stdout } = makeCliIo({ cwd: git.path, env: process.env });
  await runCli(args, io);
  expect(stdout()).toMatch(text);
});
