import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../../../src/app/cli/program.ts';
import type { Plan } from '../../../../../src/core/preview/plan.ts';
import { GitFixture } from '../../../../../packages/git-reader/test/fakes/git-fixture.ts';
import { makeCliIo } from '../../../cli-harness.ts';
import {
  baseFiles,
  binding,
  cluster,
  clusterSet,
  namespace,
  outside,
  placement,
  retired,
  yaml,
} from '../../../serve/fleet-fixture.ts';

const BROKEN = 'apiVersion: v1\nkind: ConfigMap\nspec: [';

describe('berth plan and berth validate with a settings file', () => {
  let dir: string;
  let clusters: GitFixture;
  let apps: GitFixture;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-settings-'));
    [clusters, apps] = [new GitFixture(), new GitFixture()];
    clusters.commit({
      'fleet/set.yaml': baseFiles['set.yaml'],
      'fleet/clusters.yaml': baseFiles['clusters.yaml'],
      'drafts/c9.yaml': yaml(cluster('c9')),
    });
    apps.commit({ 'web.yaml': yaml(placement('web')) });
  });
  afterEach(() => {
    rmSync(dir, { recursive: true, force: true });
    clusters.remove();
    apps.remove();
  });

  const settings = (more: object = {}): string => {
    const file = join(dir, 'sources.yaml');
    const sources = [
      { name: 'clusters', url: clusters.path, ref: { branch: 'main' }, paths: ['fleet'] },
      { name: 'apps', url: apps.path, ref: { branch: 'main' }, ...more },
    ];
    writeFileSync(file, yaml({ sources }));
    return file;
  };
  async function berth(cwd: string, ...args: string[]) {
    const { io, stdout, stderr } = makeCliIo({ cwd, env: process.env });
    const code = await runCli(args, io);
    return { code, stdout: stdout(), stderr: stderr() };
  }
  /** Of what the branch `change` of a repository would move. */
  async function plan(repository: GitFixture, ...args: string[]): Promise<Plan> {
    const { stdout, stderr } = await berth(
      repository.path,
      ...['plan', '--base', 'main', '--head', 'change', '-o', 'json', ...args],
    );
    expect(stderr).toBe('');
    return JSON.parse(stdout) as Plan;
  }
  const branch = (repository: GitFixture, files: Record<string, string>): void => {
    repository.run('checkout', '-q', '-b', 'change');
    repository.commit(files, 'Change');
  };

  it('a plan of one source shows what moves in the placements of the others, under their budgets', async () => {
    branch(clusters, { 'fleet/clusters.yaml': retired(3) });
    const [moved] = (await plan(clusters, '--config', settings(), '--source', 'clusters')).placements;
    expect(moved).toMatchObject({
      namespace: 'team-a',
      name: 'web',
      before: { selected: 6 },
      after: { selected: 3 },
      removed: [{ cluster: 'c1' }, { cluster: 'c2' }, { cluster: 'c3' }],
      held: { reason: 'RemovalBudgetExceeded', message: expect.stringContaining('budget 2') as string },
    });
    const generous = settings({ removalBudget: '50%' });
    const [allowed] = (await plan(clusters, '--config', generous, '--source', 'clusters')).placements;
    expect(allowed).toMatchObject({ removed: { length: 3 }, token: moved?.token });
    expect(allowed?.held).toBeUndefined();
  });

  it('reads only what the paths of the source cover, and keeps what it fetched where the option says', async () => {
    branch(clusters, { 'drafts/c9.yaml': yaml(cluster('c9', outside)) });
    const data = join(dir, 'data');
    const args = ['--config', settings(), '--source', 'clusters', '--data', data];
    expect(await plan(clusters, ...args)).toMatchObject({ hasChanges: false });
    expect(readdirSync(join(data, 'git'))).toEqual(['apps']);
  });

  it('plans several sources of one repository together, and the first of two that hold an object counts', async () => {
    const file = join(dir, 'mono.yaml');
    apps.commit({ 'fleet.yaml': yaml(cluster('c7')), 'own/c7.yaml': yaml(cluster('c7', outside)) });
    clusters.commit({ 'fleet/web.yaml': yaml(placement('web')) });
    writeFileSync(
      file,
      yaml({
        sources: [
          { name: 'first', url: apps.path, ref: { branch: 'main' }, paths: ['own'] },
          { name: 'second', url: apps.path, ref: { branch: 'main' }, paths: ['*.yaml', '!web.yaml'] },
          { name: 'clusters', url: clusters.path, ref: { branch: 'main' }, paths: ['fleet'] },
        ],
      }),
    );
    branch(apps, { 'own/c7.yaml': yaml(cluster('c7')) });
    const both = await plan(apps, '--config', file, '--source', 'first', '--source', 'second');
    expect(both.placements).toMatchObject([{ name: 'web', added: [{ cluster: 'c7' }] }]);
    // Alone, the second one does not change, and the first, as it is on main, still comes before it.
    expect((await plan(apps, '--config', file, '--source', 'second')).hasChanges).toBe(false);
  });

  it('holds nothing for what a placement would lose that another source deletes with the same commit', async () => {
    const file = join(dir, 'mono.yaml');
    const sources = (budget: string) => [
      { name: 'fleet', url: apps.path, ref: { branch: 'main' }, paths: ['fleet'] },
      { name: 'teams', url: apps.path, ref: { branch: 'main' }, paths: ['teams'], removalBudget: budget },
    ];
    apps.commit({
      'web.yaml': undefined,
      'fleet/set.yaml': yaml(namespace('team-a'), clusterSet),
      'fleet/binding.yaml': yaml(binding()),
      'fleet/clusters.yaml': baseFiles['clusters.yaml'],
      'teams/web.yaml': yaml(placement('web')),
      'teams/other.yaml': yaml(placement('other', { clusterSets: ['none'] })),
    });
    apps.run('checkout', '-q', '-b', 'change');
    apps.commit({ 'fleet/binding.yaml': undefined, 'teams/web.yaml': undefined }, 'Change');
    const held = async (budget: string) => {
      writeFileSync(file, yaml({ sources: sources(budget) }));
      const both = ['--source', 'fleet', '--source', 'teams'];
      const { deletionsHeld } = await plan(apps, '--config', file, ...both);
      return deletionsHeld.map(({ source }) => source);
    };
    expect(await held('0')).toEqual(['fleet', 'teams']);
    expect(await held('100%')).toEqual([]);
  });

  it('shows as held what would leave nothing of a source, but not where it may be empty or hands all over', async () => {
    branch(apps, { 'web.yaml': '' });
    const deletions = async (file: string) =>
      (await plan(apps, '--config', file, '--source', 'apps')).deletionsHeld;
    expect(await deletions(settings())).toMatchObject([
      {
        source: 'apps',
        message: expect.stringContaining('1 of 1 objects left Git, and nothing that') as string,
      },
    ]);
    expect(await deletions(settings({ allowEmpty: true }))).toMatchObject([
      { message: expect.stringContaining('takes away 6 of 6 clusters (budget 2)') as string },
    ]);
    expect(await deletions(settings({ allowEmpty: true, removalBudget: '100%' }))).toEqual([]);
    expect(await deletions(settings({ sync: 'observe' }))).toEqual([]);
    clusters.commit({ 'fleet/web.yaml': yaml(placement('web')) });
    expect(await deletions(settings())).toEqual([]);
  });

  it.each([
    {
      name: 'no choice among several',
      args: ['--config', 'F'],
      says: /--source: got none, expected .* clusters or apps/,
    },
    {
      name: 'a name that is not there',
      args: ['--config', 'F', '--source', 'app'],
      says: /got "app", expected clusters or apps[^]*did you mean apps\?/,
    },
    {
      name: 'a source without settings',
      args: ['--source', 'apps'],
      says: /--source: needs --config/,
    },
    {
      name: 'globs beside the settings',
      args: ['--config', 'F', '--path', 'x'],
      says: /--path: cannot be used with --config, expected one of them/,
    },
    { name: 'a file that is not there', args: ['--config', 'F.no'], says: /cannot be read/ },
  ])('refuses $name', async ({ args, says }) => {
    const file = settings();
    const real = args.map((arg) => arg.replace(/^F/, file));
    const planned = await berth(clusters.path, 'plan', '--base', 'main', ...real);
    expect(planned).toMatchObject({ code: 1, stdout: '' });
    expect(planned.stderr).toMatch(says);
    const validated = await berth(clusters.path, 'validate', '.', ...real);
    expect(validated).toMatchObject({ code: 1, stdout: '' });
    expect(validated.stderr).toMatch(says);
  });

  it('validates a folder with the paths of a source', async () => {
    writeFileSync(join(clusters.path, 'drafts', 'broken.yaml'), BROKEN);
    expect((await berth(clusters.path, 'validate', '.')).code).toBe(1);
    const { code, stdout } = await berth(
      clusters.path,
      ...['validate', '.', '--config', settings(), '--source', 'clusters'],
    );
    expect(stdout).toMatch(/^2 files, 9 objects: no problems$/m);
    expect(code).toBe(0);
  });

  it('validates every source as the controller reads it; one that is down stops no other', async () => {
    apps.commit({ 'broken.yaml': BROKEN });
    const file = settings();
    const all = await berth(dir, 'validate', '--config', file);
    expect(all.code).toBe(1);
    expect(all.stdout).toMatch(/^source clusters: [0-9a-f]{8}, 2 files, 9 objects: no problems$/m);
    expect(all.stdout).toMatch(/^source apps: [0-9a-f]{8}, 2 files, 1 object: 1 error/m);
    expect(all.stdout).toMatch(/^broken\.yaml:3:\d+/m);
    expect((await berth(dir, 'validate', '--config', file, '--source', 'clusters')).code).toBe(0);

    const down = settings({ url: `${apps.path}-gone` });
    const { code, stdout } = await berth(dir, 'validate', '--config', down, '-o', 'json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: false,
      sources: [
        { name: 'clusters', objects: 9, problems: [] },
        {
          name: 'apps',
          objects: 0,
          problems: [{ severity: 'error', code: expect.stringMatching(/^git\./) as string }],
        },
      ],
    });
  });

  it('asks the hub for credentials in a Secret, and says so when there is none', async () => {
    const credentials = { secretRef: { name: 'git' } };
    const file = settings({ url: 'https://git.example.org/apps.git', credentials });
    const kubeconfig = join(dir, 'none.kubeconfig');
    const all = await berth(dir, 'validate', '--config', file, '--kubeconfig', kubeconfig);
    expect(all).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(kubeconfig) as string });
    // Nothing of it is needed for the other one.
    const one = ['validate', '--config', file, '--source', 'clusters', '--kubeconfig', kubeconfig];
    expect(await berth(dir, ...one)).toMatchObject({ code: 0 });
  });
});
