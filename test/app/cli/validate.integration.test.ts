import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { tempDir } from '../../../packages/git-reader/test/git-fixture.ts';
import { makeCliIo } from '../cli-harness.ts';

async function validate(cwd: string, ...args: string[]) {
  const { io, stdout, stderr } = makeCliIo({ cwd });
  const code = await runCli(['validate', ...args], io);
  return { code, stdout: stdout(), stderr: stderr() };
}

const EXAMPLE = path.resolve(import.meta.dirname, '../../../examples/guestbook-fleet');
const copyOfExample = () => {
  const folder = path.join(tempDir(), 'fleet');
  cpSync(EXAMPLE, folder, { recursive: true });
  return folder;
};

describe('berth validate', () => {
  it('finds nothing wrong with the example fleet', async () => {
    const { code, stdout } = await validate(EXAMPLE, '.');
    expect(stdout).toMatch(/^\d+ files, \d+ objects: (no problems|\d+ warnings?)$/m);
    expect(code).toBe(0);
  });

  it.each([
    {
      name: 'nothing',
      file: undefined,
      args: [],
      says: /: contains no manifest: .*\*\.yaml, \*\.yml or \*\.json/,
    },
    { name: 'something else', file: 'README.md', args: [], says: /contains no manifest/ },
    { name: 'no test but manifests', file: 'a.placement-test.yaml', args: [], says: /contains no manifest/ },
    {
      name: 'nothing that matches',
      file: 'a.yaml',
      args: ['--path', 'prod/**'],
      says: /that match "prod\/\*\*"/,
    },
  ])('ends with an error that names the folder where there is $name', async ({ file, args, says }) => {
    const folder = path.join(tempDir(), 'void');
    mkdirSync(folder);
    if (file !== undefined) writeFileSync(path.join(folder, file), 'a: 1\n');
    const { code, stdout, stderr } = await validate(path.dirname(folder), 'void', ...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('void: ');
    expect(stderr).toMatch(says);
  });

  it('calls a folder that holds only what is refused not empty', async () => {
    const folder = path.join(tempDir(), 'chart');
    mkdirSync(path.join(folder, 'templates'), { recursive: true });
    writeFileSync(path.join(folder, 'Chart.yaml'), 'name: x\nversion: 1.0.0\n');
    const { stdout, stderr } = await validate(folder, '.');
    expect(`${stdout}${stderr}`).not.toContain('contains no manifest');
    expect(stdout).toMatch(/Helm|chart/i);
  });

  it('calls a field that a hub would refuse the object for an error, of OCM and of Kubernetes', async () => {
    const folder = path.join(tempDir(), 'fields');
    mkdirSync(folder);
    writeFileSync(
      path.join(folder, 'a.yaml'),
      `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: { name: web, namespace: default }
spec: { numberOfCluster: 1 }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replica: 1
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: web, imagePullPolcy: Always }] }
`,
    );
    const { code, stdout } = await validate(folder, '.');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /a\.yaml:4:9: error: .*numberOfCluster: is not a field .*did you mean numberOfClusters/s,
    );
    expect(stdout).toMatch(
      /a\.yaml:10:12: error: Deployment default\/web: spec\.replica: .*did you mean replicas/s,
    );
    expect(stdout).toContain('spec.template.spec.containers[0].imagePullPolcy: is not a field of this kind');
  });

  it('gives one located line per problem, and exit code 1', async () => {
    const folder = copyOfExample();
    writeFileSync(path.join(folder, 'clusters/cluster1.yaml'), 'apiVersion: v1\n  kind: x\n');
    mkdirSync(path.join(folder, 'extra'));
    writeFileSync(
      path.join(folder, 'extra/web.yaml'),
      `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: web
  namespace: guestbook
spec:
  clusterSets: [prot]
  predicates:
  - requiredClusterSelector:
      celSelector:
        celExpressions:
        - managedCluster.metadata.name ==
`,
    );
    const { code, stdout } = await validate(folder, '.');
    expect(code).toBe(1);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^clusters\/cluster1\.yaml:2:3: error: .*\[yaml\.syntax\]$/);
    expect(stdout).toContain(
      'extra/web.yaml:7:17: error: Placement guestbook/web: spec.clusterSets[0]: got unknown cluster set "prot" [placement.unknown-cluster-set]\n    hint: did you mean prod?\n',
    );
    expect(stdout).toMatch(/extra\/web\.yaml:12:11: error: .*CEL does not compile.*\[cel\.compile\]/);
    expect(stdout).toMatch(/: 3 errors/);
  });

  it.each(['json', 'yaml'])('writes %s', async (format) => {
    const folder = path.join(tempDir(), 'one');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'a.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 1}\n');
    const { code, stdout } = await validate(folder, '.', '-o', format);
    expect(code).toBe(1);
    expect(stdout).toContain('schema.type');
    if (format === 'json')
      expect(JSON.parse(stdout)).toMatchObject({
        valid: false,
        files: 1,
        objects: 0,
        problems: [{ severity: 'error', location: { file: 'a.yaml', line: 3, column: 18 } }],
      });
  });

  it('counts warnings as errors only when an option says so, and reads only the files that it is given', async () => {
    const folder = path.join(tempDir(), 'two');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'values.yaml'), 'replicas: 1\n');
    expect((await validate(folder, '.')).code).toBe(0);
    expect((await validate(folder, '.', '--strict')).code).toBe(1);
    expect((await validate(folder, '.', '--strict', '--path', '!values.yaml')).code).toBe(0);
    rmSync(folder, { recursive: true });
    const gone = await validate(path.dirname(folder), 'two');
    expect(gone).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be read, expected a folder or file'),
    });
  });

  it('fails for a kind that nobody serves, unless it is expected or defined beside it', async () => {
    const folder = tempDir();
    const web = 'apiVersion: example.org/v1\nkind: Web\nmetadata: { name: web, namespace: team-a }\n';
    writeFileSync(path.join(folder, 'web.yaml'), web);
    const { code, stdout } = await validate(folder, '.');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^web\.yaml:2:7: error: .*example\.org\/v1 Web, expected a kind of Kubernetes, OCM or Argo CD/m,
    );
    expect(stdout).toContain('--expect-kind example.org/Web');
    expect((await validate(folder, '.', '--expect-kind', 'example.org/Web')).code).toBe(0);
    expect((await validate(folder, '.', '--expect-kind', 'Web')).stderr).toContain('expected GROUP/KIND');
    const definition =
      'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: webs.example.org }\n' +
      'spec:\n  group: example.org\n  scope: Namespaced\n' +
      '  names: { kind: Web, listKind: WebList, plural: webs, singular: web }\n' +
      '  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]\n';
    writeFileSync(path.join(folder, 'crd.yaml'), definition);
    expect((await validate(folder, '.')).code).toBe(0);
  });

  it.each([
    {
      name: 'add-ons',
      kind: 'ClusterManagementAddOn',
      got: 'addon.open-cluster-management.io/v1',
      expected: 'addon.open-cluster-management.io/v1beta1 or addon.open-cluster-management.io/v1alpha1',
    },
    { name: 'Kubernetes', kind: 'PodDisruptionBudget', got: 'policy/v1beta1', expected: 'policy/v1' },
  ])('names the versions that are served of a kind of $name', async ({ kind, got, expected }) => {
    const folder = tempDir();
    const object = `apiVersion: ${got}\nkind: ${kind}\nmetadata: {name: a, namespace: b}\n`;
    writeFileSync(path.join(folder, 'a.yaml'), object);
    const { code, stdout } = await validate(folder, '.');
    expect(code).toBe(1);
    expect(stdout).toContain(
      `a.yaml:1:13: error: ${kind} b/a: apiVersion: got ${got} ${kind}, expected ${expected} [`,
    );
    const flag = `${got.slice(0, got.indexOf('/'))}/${kind}`;
    expect((await validate(folder, '.', '--expect-kind', flag)).code).toBe(0);
  });

  it('says what a hub refuses of each kind whose definition ships with it, with its place', async () => {
    const folder = tempDir();
    writeFileSync(
      path.join(folder, 'a.yaml'),
      `apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ManagedClusterAddOn
metadata: {name: logger, namespace: cluster1}
spec: {installNamspace: logging}
---
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata: {name: logger}
spec: {installStrategy: {type: Placement}}
`,
    );
    const { code, stdout } = await validate(folder, '.');
    expect(code).toBe(1);
    expect(stdout).toContain(
      'a.yaml:4:25: error: ManagedClusterAddOn cluster1/logger: spec.installNamspace: is not a field of this kind, and the hub refuses the object because of it [source.undeclared-field]\n    hint: did you mean installNamespace?\n',
    );
    expect(stdout).toContain(
      'a.yaml:9:32: error: ClusterManagementAddOn logger: spec.installStrategy.type: the hub refuses the object: Unsupported value: "Placement": supported values: "Manual", "Placements" [source.hub-refuses]\n    hint: did you mean Placements?\n',
    );
  });
});
