import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { GitFixture } from '../../../packages/git-reader/test/git-fixture.ts';
import { makeCliIo } from '../cli-harness.ts';

const API = 'cluster.open-cluster-management.io';
const binding = (set: string): string => `apiVersion: ${API}/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: ${set}, namespace: argocd}
spec: {clusterSet: ${set}}
`;
const cluster = (name: string, env: string): string => `apiVersion: ${API}/v1
kind: ManagedCluster
metadata: {name: ${name}, labels: {env: ${env}}}
spec: {hubAcceptsClient: true}
`;
const placement = (spec: string): string => `apiVersion: ${API}/v1beta1
kind: Placement
metadata: {name: web, namespace: argocd}
spec: ${spec}
`;
const TEST = `apiVersion: berth.dev/v1alpha1
kind: PlacementTest
metadata: {name: t}
spec:
  fleet: fleet
  cases: [{name: both, placement: argocd/web, expect: {exactly: [eu-1, us-1]}}]
`;
const APPLICATION_SET = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: web, namespace: argocd}
spec:
  goTemplate: true
  generators:
  - clusterDecisionResource:
      configMapRef: ocm-placement-generator
      labelSelector: {matchLabels: {cluster.open-cluster-management.io/placement: web}}
  template:
    metadata: {name: 'web-{{.clusterName}}'}
    spec:
      project: default
      source: {repoURL: https://git.example.com/web.git, path: web}
      destination: {name: '{{.clusterName}}', namespace: web}
`;
const CASE = {
  ...{ name: 'one', now: '2026-03-01T12:00:00Z' },
  placements: [{ metadata: { name: 'web', namespace: 'argocd' } }],
  clusters: [{ metadata: { name: 'eu-1' }, spec: { hubAcceptsClient: true } }],
};

describe.each(['global', 'default'])('without a hub, the set %s that is bound and not declared', (set) => {
  const assumed = `ManagedClusterSet ${set} is bound and not declared here: it counts as OCM makes it on every hub`;
  const files = {
    'fleet/binding.yaml': binding(set),
    'fleet/eu-1.yaml': cluster('eu-1', 'prod'),
    'fleet/us-1.yaml': cluster('us-1', 'dev'),
    'fleet/web.yaml': placement('{}'),
    'web.placement-test.yaml': TEST,
    'web.yaml': APPLICATION_SET,
  };
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'berth-assumed-'));
    mkdirSync(path.join(folder, 'fleet'));
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = async (...args: string[]) => {
    const { io, stdout, stderr } = makeCliIo({ cwd: folder, env: process.env });
    const code = await runCli(args, io);
    return { code, out: stdout(), err: stderr() };
  };

  it('is part of a plan', async () => {
    const fixture = new GitFixture();
    try {
      fixture.commit(files);
      fixture.git('branch', 'change');
      const narrow = '{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {env: prod}}}}]}';
      fixture.commit({ 'fleet/web.yaml': placement(narrow) }, { branch: 'change' });
      const refs = ['--repo', fixture.dir, '--base', 'main', '--head', 'change'];
      const { code, out } = await run('plan', ...refs, '--path', 'fleet/**');
      expect(code).toBe(2);
      expect(out).toContain('~ argocd/web: 2 → 1 clusters');
      expect(out).toMatch(new RegExp(`Not evaluated:[^]*${assumed}`));
    } finally {
      fixture.remove();
    }
  });

  it.each([
    { command: ['explain', 'argocd/web', '--from', 'fleet'], code: 0, finds: 'eu-1' },
    { command: ['test', 'web.placement-test.yaml'], code: 0, finds: '1 passed, 0 failed' },
    { command: ['validate', 'fleet'], code: 0, finds: 'no problems' },
    { command: ['argocd', 'render', 'web.yaml', '--repo', 'fleet'], code: 0, finds: 'web-us-1' },
  ])('is part of $command', async ({ command, code, finds }) => {
    const result = await run(...command);
    expect(result).toMatchObject({ code, out: expect.stringContaining(finds) as unknown });
    expect(result.out + result.err).toContain(assumed);
  });

  it('is part of a case that names no sets, and not of one that has none', async () => {
    const bindings = [{ metadata: { name: set, namespace: 'argocd' }, spec: { clusterSet: set } }];
    const lines = [
      { ...CASE, bindings },
      { ...CASE, bindings, clusterSets: [] },
    ].map((one) => JSON.stringify(one));
    const { io, stdout } = makeCliIo({ stdin: Readable.from([lines.join('\n')]) });
    expect(await runCli(['simulate', '-'], io)).toBe(0);
    const answers = stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { assumed?: string[]; results: { selected: string[] }[] });
    expect(answers.map(({ results }) => results[0]?.selected)).toEqual([['eu-1'], []]);
    expect(answers.map((answer) => answer.assumed?.length)).toEqual([1, undefined]);
  });

  it('is what a repository declares that has it', async () => {
    const file = path.join(folder, 'fleet', 'set.yaml');
    writeFileSync(
      file,
      `apiVersion: ${API}/v1beta2
kind: ManagedClusterSet
metadata: {name: ${set}}
spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {matchLabels: {env: dev}}}}
`,
    );
    const { out } = await run('explain', 'argocd/web', '--from', 'fleet');
    rmSync(file);
    expect(out).toMatch(/Selected:\n[^]*us-1[^]*Not selected:[^]*eu-1/);
    expect(out).not.toContain('Assumed:');
  });
});
