import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { CONFIG_MAP, NAMESPACE, PLACEMENT_DECISION, SECRET } from '@berth/kube/model/kinds';
import { makeCliIo } from '../cli-harness.ts';

const TEMPLATE = `
  template:
    metadata: {name: 'web-{{.name}}'}
    spec:
      project: default
      source: {repoURL: https://git.example.com/web.git, path: web, targetRevision: main}
      destination: {name: '{{.name}}', namespace: web}
`;

const setOf = (generator: string): string => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: web, namespace: argocd}
spec:
  goTemplate: true
  goTemplateOptions: [missingkey=error]
  generators:
  - ${generator}${TEMPLATE}`;

const FLEET = `apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: eu-1, labels: {region: eu, cluster.open-cluster-management.io/clusterset: all}}
spec: {hubAcceptsClient: true, managedClusterClientConfigs: [{url: https://eu-1.example.com}]}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: us-1, labels: {region: us, cluster.open-cluster-management.io/clusterset: all}}
spec: {hubAcceptsClient: true, managedClusterClientConfigs: [{url: https://us-1.example.com}]}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: all}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: all, namespace: argocd}
spec: {clusterSet: all}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: web, namespace: argocd}
spec: {predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {region: eu}}}}]}
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'berth-argocd-render-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function berth(...args: readonly string[]) {
  const { io, stdout, stderr } = makeCliIo({ cwd: folder });
  const code = await runCli(['argocd', 'render', ...args], io);
  return { code, stdout: stdout(), stderr: stderr() };
}

async function write(name: string, content: string | Buffer): Promise<string> {
  await writeFile(path.join(folder, name), content);
  return name;
}

describe('berth argocd render', () => {
  it.each([
    [
      'the clusters of a placement',
      'clusterDecisionResource: {configMapRef: any, labelSelector: {matchLabels: {cluster.open-cluster-management.io/placement: web}}}',
      ['web-eu-1'],
    ],
    [
      'what Berth answers as a plugin',
      'plugin: {configMapRef: {name: any}, input: {parameters: {placement: argocd/web}}}',
      ['web-eu-1'],
    ],
    [
      'every cluster',
      'clusters: {selector: {matchExpressions: [{key: region, operator: Exists}]}}',
      ['web-eu-1', 'web-us-1'],
    ],
  ])('takes %s from a repository', async (_what, generator, names) => {
    await write('fleet.yaml', FLEET);
    const { code, stdout, stderr } = await berth(
      await write('set.yaml', setOf(generator)),
      '--repo',
      '.',
      '-o',
      'json',
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const applications = JSON.parse(stdout) as { kind: string; metadata: { name: string } }[];
    expect(applications.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
      names.map((name) => `Application ${name}`),
    );
  });

  it('takes clusters, ConfigMaps and decisions from a hub', async () => {
    const hub = await startEmbeddedHub();
    try {
      const inArgocd = (name: string, labels = {}) => ({ name, namespace: 'argocd', labels });
      await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'argocd' } });
      await hub.api.create(SECRET, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: inArgocd('eu-1', { 'argocd.argoproj.io/secret-type': 'cluster' }),
        stringData: { name: 'eu-1', server: 'https://eu-1.example.com' },
      });
      await hub.api.create(CONFIG_MAP, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: inArgocd('ocm'),
        data: {
          apiVersion: 'cluster.open-cluster-management.io/v1beta1',
          kind: 'placementdecisions',
          statusListKey: 'decisions',
          matchKey: 'clusterName',
        },
      });
      const page = {
        apiVersion: 'cluster.open-cluster-management.io/v1beta1',
        kind: 'PlacementDecision',
        metadata: inArgocd('web-decision-1', { 'cluster.open-cluster-management.io/placement': 'web' }),
      };
      await hub.api.create(PLACEMENT_DECISION, page);
      const status = { decisions: ['eu-1', 'us-1'].map((clusterName) => ({ clusterName, reason: '' })) };
      await hub.api.mergePatch(PLACEMENT_DECISION, page.metadata, { status }, { subresource: 'status' });
      const generator =
        'clusterDecisionResource: {configMapRef: ocm, labelSelector: {matchLabels: {cluster.open-cluster-management.io/placement: web}}}';
      const file = await write('set.yaml', setOf(generator));
      const { code, stdout, stderr } = await berth(file, '--kubeconfig', hub.kubeconfig, '-o', 'json');
      expect(stderr).toBe(
        'ApplicationSet web: Argo CD does not know us-1 (no cluster Secret in namespace argocd), so it makes no Application there\n',
      );
      expect(code).toBe(1);
      expect(
        (JSON.parse(stdout) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
      ).toEqual(['web-eu-1']);
      await hub.api.create(SECRET, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: inArgocd('us-1', { 'argocd.argoproj.io/secret-type': 'cluster' }),
        stringData: { name: 'us-1', server: 'https://us-1.example.com' },
      });
      expect(await berth(file, '--kubeconfig', hub.kubeconfig)).toMatchObject({ code: 0, stderr: '' });
    } finally {
      await hub.close();
    }
  });

  it.each([
    { name: 'a cluster by name', destination: '{name: a, namespace: web}', code: 1, says: 'name: a' },
    { name: 'its own cluster', destination: '{name: in-cluster, namespace: web}', code: 0, says: '' },
  ])('on a hub without cluster Secrets, Argo CD knows not $name', async ({ destination, code, says }) => {
    const hub = await startEmbeddedHub();
    try {
      const set = setOf('list: {elements: [{name: a}]}').replace(
        /destination: .*/,
        `destination: ${destination}`,
      );
      const result = await berth(await write('set.yaml', set), '--kubeconfig', hub.kubeconfig);
      expect(result.code).toBe(code);
      expect(result.stderr).toContain(says);
      if (code === 1) expect(result.stderr).toContain('ApplicationValidationError');
      else expect(result.stderr).toBe('');
    } finally {
      await hub.close();
    }
  });

  it.each([
    { args: [], warns: true },
    { args: ['--argocd-version', 'v3.3.19'], warns: true },
    { args: ['--argocd-version', '3.4'], warns: false },
    { args: ['--argocd-version', '3.6.1'], warns: false },
  ])('says for which version of Argo CD it holds: $args', async ({ args, warns }) => {
    await write('fleet.yaml', FLEET);
    const generator =
      '{clusters: {}, selector: {matchExpressions: [{key: metadata.labels.region, operator: NotIn, values: [us]}]}}';
    const file = await write('set.yaml', setOf(generator));
    const { code, stdout, stderr } = await berth(file, '--repo', '.', ...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/web-eu-1[^]*\n\nRendered as Argo CD 3\.6\.1 does\.\n$/);
    expect(stderr.includes('ApplicationSet web: Argo CD before 3.4 does not see labels')).toBe(warns);
  });

  it('refuses a version that is none', async () => {
    const file = await write('set.yaml', setOf('list: {elements: [{name: a}]}'));
    const { code, stderr } = await berth(file, '--argocd-version', 'latest');
    expect(code).toBe(1);
    expect(stderr).toContain('--argocd-version: got "latest", expected a version such as 3.5 or v3.6.1');
  });

  it('refuses a generator that reads a repository', async () => {
    const file = await write(
      'set.yaml',
      setOf('git: {repoURL: https://git.example.com/a.git, revision: HEAD}'),
    );
    const { code, stderr } = await berth(file);
    expect(code).toBe(1);
    expect(stderr).toContain('spec.generators[0].git is not rendered');
  });

  it('tells the error of Argo CD', async () => {
    const { code, stderr } = await berth(await write('set.yaml', setOf('list: {elements: [{a: b}]}')));
    expect(code).toBe(1);
    expect(stderr).toContain('RenderTemplateParamsError: failed to execute go template web-{{.name}}');
  });

  it('renders a plain list as a table', async () => {
    const { code, stdout } = await berth(await write('set.yaml', setOf('list: {elements: [{name: a}]}')));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAMESPACE +NAME +PROJECT +CLUSTER +TARGET\n.*argocd +web-a +default +a +web/);
  });

  it.each([
    ['plain', (text: string) => Buffer.from(text)],
    ['gzipped', (text: string) => gzipSync(text)],
  ])('answers %s recorded cases line by line', async (_form, pack) => {
    const lines = [
      { id: 'one', engine: 'go', template: '{{ .a | upper }}', params: { a: 'x' } },
      { id: 'two', engine: 'fasttemplate', template: '{{a', params: {} },
      {
        id: 'three',
        applicationSet: {
          metadata: { name: 's', namespace: 'argocd' },
          spec: { generators: [{ pullRequest: {} }] },
        },
      },
    ];
    const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
    const { code, stdout, stderr } = await berth('--cases', await write('cases.jsonl', pack(text)));
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { id: 'one', output: 'X' },
      { id: 'two', output: '{{a' },
      {
        id: 'three',
        result: { reason: 'NotRendered', error: expect.stringContaining('pullRequest') as string },
      },
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('1 cases are not rendered');
  });

  it('says that a gzipped file is damaged', async () => {
    const whole = gzipSync('{"id":"a","engine":"go","template":"","params":{}}\n'.repeat(1_000));
    const { code, stderr } = await berth('--cases', await write('cases.jsonl.gz', whole.subarray(0, 60)));
    expect(code).toBe(1);
    expect(stderr).toContain('cases.jsonl.gz: the file cannot be read');
  });

  it.each([
    ['not json', 'Unexpected token'],
    ['null', 'expected an object'],
    ['[]', 'expected an object'],
    ['{"id":1}', 'expected an id that is a string'],
    ['{"id":"x","applicationSet":5}', 'case x: expected an applicationSet or a template'],
    ['{"id":"x","template":5}', 'case x: expected a template that is a string'],
    ['{"id":"x","template":"","engine":"perl"}', 'expected the engine go or fasttemplate, got "perl"'],
    ['{"id":"x","template":"","engine":"go","params":5}', 'case x: expected params'],
  ])('says that %j is not a recorded case, and in which line', async (line, text) => {
    const good = '{"id":"a","engine":"go","template":"","params":{}}';
    const { code, stderr } = await berth('--cases', await write('cases.jsonl', `${good}\n${line}\n`));
    expect(code).toBe(1);
    expect(stderr).toContain('cases.jsonl:2: the line is not a recorded case: ');
    expect(stderr).toContain(text);
  });

  it.each([
    ['text', 'document 2: it is not a Kubernetes object'],
    ['{metadata: {name: x}}', 'document 2: kind is missing, or is not a string'],
    ['{kind: ApplicationSet}', 'document 2: metadata.name is missing, or is not a string'],
    ['{kind: ConfigMap, metadata: {name: x}, data: {a: 1}}', 'ConfigMap x: data.a is not a string: got 1'],
    ['{kind: Secret, metadata: {name: x}, data: [a]}', 'Secret x: data is not a map'],
    ['{kind: Secret, metadata: {name: x}, data: {name: eu-1}}', 'Secret x: data.name is not base64'],
    ['{kind: Secret, metadata: {name: x}, stringData: {a: true}}', 'Secret x: stringData.a is not a string'],
    ['a: [1', 'the file is not YAML'],
  ])('says what is wrong with an object such as %j', async (object, text) => {
    const set = setOf('list: {elements: [{name: eu-1}]}');
    const { code, stderr } = await berth(await write('sets.yaml', `${set}---\n${object}\n`));
    expect(code).toBe(1);
    expect(stderr).toContain(text);
  });

  it.each([
    [['none.yaml'], 'none.yaml: the file cannot be read'],
    [['--cases', 'none.jsonl'], 'none.jsonl: the file cannot be read'],
    [['x', '--hub', '--repo', '.'], '--repo: either a hub or a folder'],
  ])('says what is wrong with %j', async (args, text) => {
    const { code, stderr } = await berth(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(text);
  });
});
