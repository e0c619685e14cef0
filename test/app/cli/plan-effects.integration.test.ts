import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { GitFixture } from '../../../packages/git-reader/test/git-fixture.ts';
import { makeCliIo } from '../cli-harness.ts';

const cluster = (name: string, region: string, more = '') => `
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: ${name}, labels: {region: ${region}, cluster.open-cluster-management.io/clusterset: fleet}}
spec: {hubAcceptsClient: true${more}}
`;
const SETS = `
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: fleet}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: fleet, namespace: argocd}
spec: {clusterSet: fleet}
`;
const placement = (name: string, count: number) => `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: ${name}, namespace: argocd}
spec: {numberOfClusters: ${count}}
`;
const applicationSet = (name: string, generators: string, revision = 'v1') => `
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: ${name}, namespace: argocd}
spec:
  goTemplate: true
  generators:
${generators}
  template:
    metadata: {name: '${name}-{{ .name }}'}
    spec:
      project: default
      source: {repoURL: 'https://git.example.org/app', targetRevision: ${revision}, path: .}
      destination: {server: '{{ .server }}', namespace: web}
`;
const BY_DECISION = `  - clusterDecisionResource:
      configMapRef: ocm-placement
      labelSelector: {matchLabels: {cluster.open-cluster-management.io/placement: web}}
`;
const BY_GIT =
  '  - git: {repoURL: https://git.example.org/apps, revision: main, directories: [{path: "*"}]}\n';
const DRAINED = ', taints: [{key: maintenance, effect: NoSelect}]';
const replicaSet = (image: string) => `
apiVersion: work.open-cluster-management.io/v1alpha1
kind: ManifestWorkReplicaSet
metadata: {name: agent, namespace: argocd}
spec:
  placementRefs:
  - name: every
    rolloutStrategy: {type: Progressive, progressive: {maxConcurrency: 1, minSuccessTime: 10m}}
  manifestWorkTemplate:
    workload:
      manifests:
      - {apiVersion: v1, kind: ConfigMap, metadata: {name: app, namespace: web}, data: {image: ${image}}}
      - {apiVersion: v1, kind: Secret, metadata: {name: key, namespace: web}, stringData: {token: token-of-${image}}}
`;
const rules = (...lines: readonly string[]) => `rules:\n${lines.map((line) => `- ${line}\n`).join('')}`;

const FILES = {
  'clusters/c1.yaml': cluster('c1', 'eu'),
  'clusters/c2.yaml': cluster('c2', 'eu'),
  'clusters/c3.yaml': cluster('c3', 'us'),
  'sets.yaml': SETS,
  'web.yaml': placement('web', 1),
  'every.yaml': placement('every', 3),
  'apps.yaml': applicationSet('web', BY_DECISION),
  'agent.yaml': replicaSet('one'),
};

interface Shown {
  readonly [field: string]: unknown;
}

describe('berth plan', () => {
  let fixture: GitFixture;
  beforeEach(() => {
    fixture = new GitFixture();
    fixture.commit(FILES, { message: 'The fleet' });
    fixture.git('branch', 'change');
  });
  afterEach(() => fixture.remove());

  async function plan(...args: readonly string[]) {
    const { io, stdout, stderr } = makeCliIo({ cwd: fixture.dir, env: process.env });
    const code = await runCli(['plan', ...args], io);
    return { code, stdout: stdout(), stderr: stderr() };
  }
  const change = (files: Readonly<Record<string, string | null>>) =>
    fixture.commit(files, { branch: 'change' });
  const planned = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await plan('--base', 'main', '--head', 'change', '-o', 'json', ...args);
    expect(stderr).toBe('');
    return { code, plan: JSON.parse(stdout) as Shown };
  };

  it('pairs clusters that are exchanged, and names what is behind it', async () => {
    change({ 'clusters/c1.yaml': cluster('c1', 'eu', DRAINED) });
    const { plan: shown } = await planned();
    expect(shown).toMatchObject({
      placements: [
        {
          name: 'every',
          affectedBy: ['ManagedCluster c1'],
          after: { outcome: 'unsatisfied', clusters: ['c2', 'c3'] },
        },
        {
          name: 'web',
          affectedBy: ['ManagedCluster c1'],
          moves: [{ from: 'c1', to: 'c2', because: 'tainted maintenance', causes: ['ManagedCluster c1'] }],
        },
      ],
      clusters: [
        { name: 'c1', region: 'eu', sets: ['fleet', 'global'] },
        { name: 'c2', region: 'eu', sets: ['fleet', 'global'] },
      ],
      findings: [
        { code: 'unsatisfied', subject: 'Placement argocd/every', location: { file: 'every.yaml' } },
      ],
    });
  });

  describe('renders ApplicationSets', () => {
    it.each([
      {
        name: 'that read a decision that moves',
        files: { 'clusters/c1.yaml': cluster('c1', 'eu', DRAINED) },
        want: [
          {
            name: 'web',
            change: 'unchanged',
            placements: ['argocd/web'],
            kept: 0,
            applications: [
              { change: 'deleted', name: 'web-c1' },
              { change: 'created', name: 'web-c2' },
            ].sort((a, b) => (a.name < b.name ? -1 : 1)),
          },
        ],
      },
      {
        name: 'that are edited, field by field',
        files: { 'apps.yaml': applicationSet('web', BY_DECISION, 'v2') },
        want: [
          {
            change: 'changed',
            applications: [
              {
                change: 'changed',
                name: 'web-c1',
                fields: [{ path: 'spec.source.targetRevision', before: '"v1"', after: '"v2"' }],
              },
            ],
          },
        ],
      },
      {
        name: 'that are deleted',
        files: { 'apps.yaml': null },
        want: [{ change: 'deleted', applications: [{ change: 'deleted', name: 'web-c1' }] }],
      },
      {
        name: 'that nobody can render here',
        files: { 'more.yaml': applicationSet('more', BY_GIT) },
        want: [{ name: 'more', notRendered: expect.stringContaining('reads a Git repository') }],
      },
      {
        name: 'that read another decision: none',
        files: { 'agent.yaml': replicaSet('two') },
        want: [],
      },
    ])('$name', async ({ files, want }) => {
      change(files);
      const { plan: shown } = await planned();
      expect(shown['applications']).toMatchObject(want);
      expect(shown['applications']).toHaveLength(want.length);
    });
  });

  it('gives the fields of manifests, no Secret, and the shortest rollout', async () => {
    change({ 'agent.yaml': replicaSet('two') });
    const { plan: shown } = await planned();
    expect(JSON.stringify(shown)).not.toContain('token-of');
    expect(shown).toMatchObject({
      workloads: [
        {
          name: 'agent',
          changedOn: ['c1', 'c2', 'c3'],
          manifestCount: 2,
          manifests: [
            { ref: { kind: 'ConfigMap' }, fields: [{ path: 'data.image', before: '"one"', after: '"two"' }] },
            { ref: { kind: 'Secret' }, fields: [{ path: 'stringData.token', secret: true }] },
          ],
        },
      ],
      rollouts: [
        {
          placement: 'argocd/every',
          strategy: 'Progressive',
          waves: [
            { clusters: ['c1'], startsAfterMs: 0 },
            { clusters: ['c2'], startsAfterMs: 600_000 },
            { clusters: ['c3'], startsAfterMs: 1_200_000 },
          ],
          shortestMs: 1_800_000,
        },
      ],
    });
    const { stdout } = await plan('--base', 'main', '--head', 'change');
    expect(stdout).toContain('Progressive, 3 batches, at least 30m: c1 → c2 → c3');
    expect(stdout).not.toContain('token-of');
  });

  describe('judges by the rules of the base', () => {
    const FEW =
      '{name: few, expression: "size(plan.removed) <= 1", message: At most one cluster., owners: [ops]}';
    const REGIONS =
      '{name: regions, effect: warn, expression: \'plan.placement("argocd/every").regions >= 2\', message: Two regions.}';
    const NO_PCI =
      '{name: pci, expression: \'!plan.moves.exists(m, m.to.labels["region"] == "us")\', message: Not to the US.}';

    it.each([
      { name: 'kept', rule: NO_PCI, code: 2, outcome: 'kept' },
      { name: 'denied', rule: FEW, code: 3, outcome: 'broken' },
      {
        name: 'that warn do not stop',
        rule: FEW.replace('{', '{effect: warn, '),
        code: 2,
        outcome: 'broken',
      },
      { name: 'on placements that do not change', rule: REGIONS, code: 2, outcome: 'kept' },
      {
        name: 'that give no answer stop',
        rule: NO_PCI.replaceAll('region', 'pci'),
        code: 3,
        outcome: 'failed',
      },
      {
        name: 'about a placement that is not there stop',
        rule: REGIONS.replace('every', 'all').replace('warn', 'deny'),
        code: 3,
        outcome: 'failed',
      },
    ])('$name', async ({ rule, code, outcome }) => {
      fixture.commit({ '.berth/rules.yaml': rules(rule) });
      fixture.git('branch', '-f', 'change');
      change({ 'clusters/c1.yaml': cluster('c1', 'eu', DRAINED) });
      const result = await planned();
      expect(result.plan['rules']).toMatchObject({ changed: false, base: [{ outcome }], head: [] });
      expect(result.code).toBe(code);
    });

    it('also where the change relaxes them, and says what the new ones say', async () => {
      fixture.commit({ '.berth/rules.yaml': rules(FEW) });
      fixture.git('branch', '-f', 'change');
      change({ 'clusters/c1.yaml': cluster('c1', 'eu', DRAINED), '.berth/rules.yaml': 'rules: []\n' });
      const { code, stdout } = await plan('--base', 'main', '--head', 'change');
      expect(code).toBe(3);
      expect(stdout).toContain('! denied by rule few: At most one cluster. (ask ops)');
      expect(stdout).toContain(
        'The change edits the guard rules. It is judged by those of main. It would keep all of the new ones.',
      );
    });

    it('and nothing where nothing changes', async () => {
      fixture.commit({ '.berth/rules.yaml': rules('{name: never, expression: "false", message: Never.}') });
      expect((await plan('--base', 'main', '--head', 'main')).code).toBe(0);
    });

    it.each([
      { name: 'no YAML', text: 'rules: [', want: /Rules: .* \(\.berth\/rules\.yaml:1:\d+ @ / },
      { name: 'an unknown field', text: rules('{nam: x}'), want: /nam.*\(\.berth\/rules\.yaml:2:\d+ @ / },
      {
        name: 'an expression that does not compile',
        text: rules('{name: x, message: m, expression: plan.removed.size( > 1}'),
        want: /Rule x: expression: .*\(\.berth\/rules\.yaml:2:56 @ /,
      },
      {
        name: 'an expression in a block',
        text: 'rules:\n- name: x\n  message: m\n  expression: |\n    true &&\n      plan.removed = 1\n',
        want: /Rule x: expression: .*\(\.berth\/rules\.yaml:6:20 @ /,
      },
      {
        name: 'an expression that is no bool',
        text: rules('{name: x, message: m, expression: "1 + 1"}'),
        want: /expected a bool \(\.berth\/rules\.yaml:2:37 @ /,
      },
      {
        name: 'two rules of one name',
        text: rules('{name: x, message: m, expression: "true"}', '{name: x, message: m, expression: "true"}'),
        want: /got a second rule with the name x \(\.berth\/rules\.yaml:3:\d+ @ /,
      },
    ])('and refuses $name, with its place', async ({ text, want }) => {
      fixture.commit({ '.berth/rules.yaml': text });
      const { code, stderr } = await plan('--base', 'main', '--head', 'main');
      expect(stderr).toMatch(want);
      expect(code).toBe(1);
    });

    it('and takes broken rules of the head for a problem of the head', async () => {
      change({ '.berth/rules.yaml': 'rules: 1\n' });
      const { code, stderr } = await plan('--base', 'main', '--head', 'change');
      expect(stderr).toMatch(/rules\.yaml:1:\d+/);
      expect(code).toBe(1);
    });
  });

  it.each([
    { name: 'good', text: rules('{name: x, message: m, expression: "size(plan.removed) < 3"}'), code: 0 },
    { name: 'wrong', text: rules('{name: x, message: m, expression: "plan. <"}'), code: 1 },
  ])('has its rules checked by berth validate: $name', async ({ text, code }) => {
    const folder = path.join(fixture.dir, 'checked');
    mkdirSync(path.join(folder, '.berth'), { recursive: true });
    writeFileSync(path.join(folder, '.berth/rules.yaml'), text);
    writeFileSync(path.join(folder, 'c1.yaml'), cluster('c1', 'eu'));
    writeFileSync(path.join(folder, 'sets.yaml'), SETS);
    const { io, stdout } = makeCliIo({ cwd: fixture.dir, env: process.env });
    expect(await runCli(['validate', 'checked', '-o', 'json'], io)).toBe(code);
    expect(stdout().includes('rules.expression')).toBe(code === 1);
  });

  describe('assumes what is asked for', () => {
    it.each([
      { name: 'a drain', flags: ['--drain', 'c1'], lost: ['every c1', 'web c1'] },
      { name: 'a lost region', flags: ['--lose', 'region=eu'], lost: ['every c1', 'every c2', 'web c1'] },
      { name: 'a taint', flags: ['--taint', 'c2:a.b/c=d:NoSelect'], lost: ['every c2'] },
      {
        name: 'several',
        flags: ['--drain', 'c1', '--label', 'c2:region=us', '--lose', 'region=us'],
        lost: ['every c1', 'every c2', 'every c3', 'web c1'],
      },
      { name: 'a label that matters to nobody', flags: ['--label', 'c1:a=b'], lost: [] },
      {
        name: 'a label that goes',
        flags: ['--label', 'c1:cluster.open-cluster-management.io/clusterset-'],
        lost: ['every c1', 'web c1'],
      },
      { name: 'a claim', flags: ['--claim', 'c1:id=x', '--lose', 'id=x'], lost: ['every c1', 'web c1'] },
      { name: 'a score that nobody uses', flags: ['--score', 'c1:usage/cpu=5'], lost: [] },
    ])('$name', async ({ flags, lost }) => {
      const { code, stdout, stderr } = await plan(...flags, '-o', 'json');
      expect(stderr).toBe('');
      const { placements, whatIf } = JSON.parse(stdout) as {
        placements: { name: string; removed: { cluster: string }[] }[];
        whatIf: string[];
      };
      const removed = placements.flatMap(({ name, removed: gone }) =>
        gone.map(({ cluster: at }) => `${name} ${at}`),
      );
      expect(removed.sort()).toEqual(lost);
      expect(whatIf).toHaveLength(flags.length / 2);
      expect(code === 0).toBe(lost.length === 0);
    });

    it('clusters of a file, together with a head', async () => {
      writeFileSync(path.join(fixture.dir, 'new.txt'), cluster('c4', 'ap'));
      change({ 'every.yaml': placement('every', 5) });
      const { stdout } = await plan('--base', 'main', '--head', 'change', '--add-cluster', 'new.txt');
      expect(stdout).toContain('what if --add-cluster new.txt');
      expect(stdout).toMatch(/argocd\/every: 3 → 4 clusters, definition changed/);
      expect(stdout).toMatch(/Placement argocd\/every: It asks for 5 clusters and has 4/);
    });

    it.each([
      { flags: ['--drain', 'nobody'], want: /--drain nobody: no cluster has this name, label or claim/ },
      { flags: ['--drain', 'c1:x'], want: /expected --drain CLUSTER/ },
      { flags: ['--taint', 'c1:x:Never'], want: /with effect NoSelect, PreferNoSelect, NoSelectIfNew/ },
      { flags: ['--taint', 'c1'], want: /expected --taint/ },
      { flags: ['--label', 'c1:=x'], want: /expected --label/ },
      { flags: ['--score', 'c1:usage/cpu=101'], want: /from -100 to 100/ },
      { flags: ['--add-cluster', 'nowhere.yaml'], want: /cannot be read/ },
      { flags: ['--add-cluster', 'c1.yaml'], want: /there is a ManagedCluster c1 already/ },
      { flags: ['--add-cluster', 'web.yaml'], want: /has no ManagedCluster/ },
      { flags: [], want: /--base: is missing/ },
    ])('and refuses $flags', async ({ flags, want }) => {
      writeFileSync(path.join(fixture.dir, 'c1.yaml'), cluster('c1', 'eu'));
      writeFileSync(path.join(fixture.dir, 'web.yaml'), placement('web', 1));
      const { code, stderr } = await plan(...flags);
      expect(stderr).toMatch(want);
      expect(code).toBe(1);
    });
  });

  it('names what it was made of: another fleet, another digest', async () => {
    change({ 'clusters/c1.yaml': cluster('c1', 'eu', DRAINED) });
    const [one, again, assumed] = [await planned(), await planned(), await planned('--label', 'c2:a=b')];
    expect(one.plan['token']).toEqual(again.plan['token']);
    expect(one.plan['token']).toMatchObject({
      token: expect.stringMatching(/^[0-9a-f]{12}$/),
      base: fixture.git('rev-parse', 'main').trim(),
      head: fixture.git('rev-parse', 'change').trim(),
    });
    expect(assumed.plan['token']).not.toMatchObject({ token: (one.plan['token'] as Shown)['token'] });
  });

  it.each([
    { format: 'html', want: /^<!doctype html>[\s\S]*<p class="verdict changes">[^\n]*1 placement/ },
    { format: 'text', want: /1 placement would change/ },
    { format: 'junit', want: /<testsuites name="berth plan" tests="\d+" failures="0" errors="0">/ },
    { format: 'sarif', want: /"version": "2\.1\.0"/ },
  ])('writes $format', async ({ format, want }) => {
    const { stdout, stderr } = await plan('--taint', 'c2:x', '-o', format);
    expect(stderr).toBe('');
    expect(stdout).toMatch(want);
  });
});
