import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { baseFiles, cluster, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { startEmbeddedHub } from '../fakes/embedded-hub.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { GiteaFake } from '../../packages/forge/test/fakes/forges/gitea-fake.ts';
import { GitHubFake } from '../../packages/forge/test/fakes/forges/github-fake.ts';

const CI = join(import.meta.dirname, '../../examples/ci');
const BERTH = `${process.execPath} ${join(process.cwd(), 'dist/src/app/cli/main.js')}`;
/** The action of this repository, from the folder of the examples. */
const ACTION = '../../action.yml';
const SCRIPTS = ['plan.sh', 'inventory.sh', 'comment.mjs'];

type Env = Readonly<Record<string, string>>;

interface Step {
  readonly name?: string;
  readonly if?: string;
  readonly run?: string;
  readonly env?: Env;
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly env?: Env; readonly steps: readonly Step[] }>>;
}

/** What an action has in the place of jobs. */
interface Action {
  readonly inputs?: Readonly<Record<string, { readonly default: string }>>;
  readonly runs?: { readonly env?: Env; readonly steps: readonly Step[] };
}

interface GitLabJob {
  readonly variables: Env;
  readonly before_script: readonly string[];
  readonly script: readonly string[];
  readonly after_script: readonly string[];
  readonly artifacts: { readonly reports: { readonly junit: string } };
}

const read = <T>(file: string): T => parse(readFileSync(join(CI, file), 'utf8')) as T;

describe('the examples of plans in CI', () => {
  let origin: GitFixture;
  let root: string;
  let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
  let head: string;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'berth-ci-'));
    hub = await startEmbeddedHub();
    // Only the hub knows this one.
    await hub.api.create(MANAGED_CLUSTER, cluster('on-hub-only'));
    origin = new GitFixture();
    origin.run('config', 'receive.denyCurrentBranch', 'ignore');
    origin.run('config', 'uploadpack.allowAnySHA1InWant', 'true');
    execFileSync(process.execPath, [
      ...BERTH.split(' ').slice(1),
      'snapshot',
      '--new-key',
      join(root, 'key'),
    ]);
    const scripts = SCRIPTS.map((name) => [`ci/${name}`, readFileSync(join(CI, name), 'utf8')]);
    origin.commit({
      ...baseFiles,
      ...(Object.fromEntries(scripts) as Env),
      'web.yaml': yaml(placement('web', { numberOfClusters: 1 })),
      '.berth/inventory.pub': readFileSync(join(root, 'key.pub'), 'utf8'),
      '.berth/rules.yaml':
        'rules:\n- {name: few, expression: size(plan.added) <= 5, message: At most five.}\n',
    });
    origin.run('checkout', '-q', '-b', 'change');
    head = origin.commit({ 'web.yaml': yaml(placement('web', { numberOfClusters: 6 })) });
    origin.run('checkout', '-q', 'main');
  });
  afterEach(async () => {
    await hub.close();
    origin.remove();
    rmSync(root, { recursive: true, force: true });
  });

  /** As the checkout of a CI. */
  function clone(name: string): string {
    const folder = join(root, name);
    execFileSync('git', ['clone', '-q', origin.path, folder]);
    execFileSync('git', ['-C', folder, 'fetch', '-q', 'origin', '+refs/heads/*:refs/remotes/origin/*']);
    return folder;
  }

  async function sh(cwd: string, script: string, env: Env): Promise<{ code: number; text: string }> {
    try {
      const { stdout, stderr } = await promisify(execFile)('sh', ['-e', '-c', script], {
        cwd,
        env: { PATH: process.env['PATH'], HOME: root, BERTH, ...env },
      });
      return { code: 0, text: `${stdout}${stderr}` };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, text: `${stdout}${stderr}` };
    }
  }

  const writeInventory = (folder: string) =>
    sh(folder, 'sh ci/inventory.sh', {
      KUBECONFIG: hub.kubeconfig,
      INVENTORY_PRIVATE_KEY: join(root, 'key'),
    });

  it('write an inventory, and plan on it in a plain shell', async () => {
    const folder = clone('shell');
    expect(await writeInventory(folder)).toEqual({ code: 0, text: '' });
    // The branch holds the newest inventory alone.
    expect(await writeInventory(folder)).toEqual({ code: 0, text: '' });
    expect(origin.run('rev-list', '--count', 'berth-inventory').trim()).toBe('1');
    await sh(folder, 'git fetch -q', {});
    const plan = (env: Env = {}) =>
      sh(folder, 'sh ci/plan.sh', { BASE: 'origin/main', HEAD: 'origin/change', ...env });
    expect(await plan()).toMatchObject({ code: 0 });
    const report = (name: string): string => readFileSync(join(folder, 'berth-plan', name), 'utf8');
    expect(report('plan.md')).toContain('The plan uses the state of the hub');
    expect(report('plan.md')).toContain('adds `c2`, `c3`, `c4` and 2 more | numberOfClusters 1 → 6 |');
    // No controller follows the base there.
    expect(report('plan.md')).toContain('Waiting on origin/main');
    expect(report('plan.xml')).toContain('<testsuites name="berth plan"');
    expect(report('plan.html')).toContain('<!doctype html>');
    expect(JSON.parse(report('plan.sarif'))).toMatchObject({ version: '2.1.0' });

    origin.run('checkout', '-q', '-B', 'change', 'main');
    // Its own rules and its own key do not count.
    origin.commit({
      'web.yaml': yaml(placement('web', { numberOfClusters: 7 })),
      '.berth/rules.yaml': 'rules: []\n',
      '.berth/inventory.pub': 'mine\n',
    });
    await sh(folder, 'git fetch -q', {});
    const stopped = await plan();
    expect(stopped).toMatchObject({ code: 3, text: expect.stringContaining('see berth-plan/plan.md') });
    expect(report('plan.md')).toContain('At most five.');
    expect(await plan({ MAX_AGE: '1ms' })).toMatchObject({
      code: 1,
      text: expect.stringContaining('is older than 1ms'),
    });
  });

  it.each([
    { forge: 'github', file: 'github/berth-plan.yaml' },
    { forge: 'gitea', file: 'gitea/berth-plan.yaml' },
    { forge: 'github', file: ACTION },
  ])('run as the steps of $file', async ({ forge, file }) => {
    expect(await writeInventory(clone('inventory'))).toEqual({ code: 0, text: '' });
    const server = forge === 'github' ? new GitHubFake() : new GiteaFake();
    const api = await server.start();
    try {
      const values: Record<string, string> = {
        'github.base_ref': 'main',
        'github.event.pull_request.head.sha': head,
        'github.event.number': '7',
        'github.repository': 'team/fleet',
        'github.api_url': api,
        'github.server_url': api,
        'github.token': 'a-token',
        'secrets.BERTH_COMMENT_TOKEN': 'a-token',
      };
      const { inputs = {}, runs } = read<Action>(file);
      for (const [name, { default: value }] of Object.entries(inputs))
        values[`inputs.${name}`] = value.replaceAll(
          /\$\{\{ ([\w.]+) \}\}/g,
          (_, known: string) => values[known] ?? '',
        );
      const filled = (text: string): string =>
        text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, name: string) => {
          const value = values[name];
          if (value === undefined) throw new Error(`${file} reads ${name}`);
          return value;
        });
      const envOf = (env: Env = {}): Env =>
        Object.fromEntries(Object.entries(env).map(([name, text]) => [name, filled(text)]));
      const folder = clone(forge);
      const steps = async (): Promise<void> => {
        const [job] = runs === undefined ? Object.values(read<Workflow>(file).jobs) : [runs];
        for (const { name, run, env } of job?.steps ?? []) {
          if (run === undefined || name === 'Install Berth') continue;
          const all: Env = {
            ...envOf(job?.env),
            ...envOf(env),
            GITHUB_ACTION_PATH: process.cwd(),
            GITHUB_STEP_SUMMARY: join(root, 'summary.md'),
          };
          // The base of Gitea's API is below that of its pages.
          const result = await sh(folder, filled(run), { ...all, ...(all['API'] && { API: api }) });
          expect(result, name).toMatchObject({ code: 0 });
        }
      };
      await steps();
      await steps();
      expect(server.comments.map(({ number }) => number)).toEqual([7]);
      expect(server.comments[0]?.body).toMatch(/^<!-- berth plan -->\n[^]*1 placement would change/);
      if (forge === 'github')
        expect(readFileSync(join(root, 'summary.md'), 'utf8')).toContain('1 placement would change');
    } finally {
      await server.close();
    }
  });

  it('run as the job of .gitlab-ci.yml', async () => {
    expect(await writeInventory(clone('inventory'))).toEqual({ code: 0, text: '' });
    const job = read<Readonly<Record<string, GitLabJob>>>('gitlab/.gitlab-ci.yml')['berth-plan'];
    const folder = clone('gitlab');
    const variables = job?.variables ?? {};
    const env = {
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
      BASE: (variables['BASE'] ?? '').replace('$CI_MERGE_REQUEST_TARGET_BRANCH_NAME', 'main'),
      HEAD: (variables['HEAD'] ?? '').replace('$CI_COMMIT_SHA', head),
    };
    const before = (job?.before_script ?? []).filter((line) => !line.startsWith('npm install'));
    expect(await sh(folder, [...before, ...(job?.script ?? [])].join('\n'), env)).toMatchObject({ code: 0 });
    // Without a token there is no note, and no failure.
    expect(await sh(folder, (job?.after_script ?? []).join('\n'), env)).toEqual({ code: 0, text: '' });
    expect(existsSync(join(folder, job?.artifacts.reports.junit ?? ''))).toBe(true);
  });

  it('are whole: every file is YAML, every script that one calls is there', () => {
    const files = readdirSync(CI, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.ya?ml$/.test(name),
    );
    expect(files).toHaveLength(4);
    for (const name of files) {
      read(name);
      const text = readFileSync(join(CI, name), 'utf8');
      const called = [...text.matchAll(/\bci\/([\w.-]+)/g)].map(([, script]) => script ?? '');
      expect(called.length, name).toBeGreaterThan(0);
      expect(SCRIPTS).toEqual(expect.arrayContaining(called));
    }
  });
});
