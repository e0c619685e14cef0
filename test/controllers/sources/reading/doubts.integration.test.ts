import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SourceContent } from '../../../../src/controllers/sources/manifests/source-content.ts';
import { openGitSource } from '../../../../src/controllers/sources/reading/git-source.ts';
import { type FixtureFile, GitFixture, tempDir } from '../../../../packages/git-reader/test/git-fixture.ts';
import { hasKubectl } from '../../../e2e/kubectl-program.ts';

const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;
const BROKEN = (name: string) => `${configMap(name)}data: [\n`;
const names = (content: SourceContent) => content.objects.map(({ object }) => object.metadata.name).sort();

type Files = Record<string, FixtureFile>;

const GENERATOR = `apiVersion: policy.open-cluster-management.io/v1
kind: PolicyGenerator
metadata: {name: gen}
policies: [{name: p, manifests: [{path: ns.yaml}]}]
`;

/** Files that hold no object for Berth, and the severity of their problems. */
const FOREIGN: readonly (readonly [string, Files, string])[] = [
  ['an Ansible playbook', { 'deploy.yml': '---\n- hosts: hub\n  tasks: [{ping: {}}]\n' }, 'warning'],
  ['a note', { 'notes.yaml': 'to do: see b\nand: [\n' }, 'warning'],
  ['a text', { 'notes.yml': 'write this down\n' }, 'warning'],
  [
    'the configuration of mkdocs',
    { 'mkdocs.yml': 'site_name: x\nemoji: !!python/name:material.extensions.emoji.twemoji\n' },
    'warning',
  ],
  [
    'a template of CloudFormation',
    { 'stack.yaml': 'Resources:\n  A: {Type: "AWS::S3::Bucket", Name: !Sub "a-${B}"}\n' },
    'warning',
  ],
  ['a JSON file with comments', { 'tsconfig.json': '{\n  // strict\n  "a": 1,\n}\n' }, 'warning'],
  [
    'a template of Helm outside of a chart',
    { 'web.yaml': `{{- if .x }}\n${configMap('{{ .Release.Name }}')}{{- end }}\n` },
    'warning',
  ],
  ['a Helm chart', { 'chart/Chart.yaml': 'name: x\n', 'chart/templates/web.yaml': '{{ x' }, 'error'],
  ['a manifest that was never whole', { 'new.yaml': BROKEN('new') }, 'error'],
  [
    'a configuration with a kind',
    { 'kind.yaml': 'apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n' },
    'error',
  ],
  ['a link', { 'link.yaml': { symlink: 'elsewhere.yaml' } }, 'error'],
  ['bytes', { 'x.yaml': Buffer.from([0xff, 0xfe, 0x61, 0]) }, 'error'],
  [
    'a kustomization with a remote base',
    { 'k/kustomization.yaml': 'resources: ["https://example.org/base"]\n' },
    'error',
  ],
  ...(hasKubectl()
    ? [
        [
          'a PolicyGenerator',
          { 'policies/kustomization.yaml': 'generators: [gen.yaml]\n', 'policies/gen.yaml': GENERATOR },
          'warning',
        ] as const,
      ]
    : []),
];

describe('what left Git while something cannot be read', () => {
  let fixture: GitFixture;
  beforeEach(() => {
    fixture = new GitFixture();
  });
  afterEach(() => fixture.remove());
  const open = (mirrorDir: string) => openGitSource({ url: fixture.dir, mirrorDir, ambient: process.env });

  /** What a controller reads that followed every commit, one that was restarted, and one that lost its data. */
  async function follow(commits: readonly Files[]): Promise<readonly SourceContent[]> {
    const mirrorDir = path.join(tempDir(), 'm.git');
    const running = await open(mirrorDir);
    let content: SourceContent | undefined;
    for (const files of commits) {
      fixture.commit(files);
      await running.fetch();
      content = await running.read();
    }
    await running.settle();
    await running.close();
    const contents = content === undefined ? [] : [content];
    for (const dir of [mirrorDir, path.join(tempDir(), 'lost.git')]) {
      const later = await open(dir);
      await later.fetch();
      contents.push(await later.read());
      await later.close();
    }
    return contents;
  }
  const a = { 'a.yaml': configMap('a') };
  const b = { 'b.yaml': configMap('b') };
  const withoutB = { 'b.yaml': null };
  const member = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
  });
  const doubted = async ({ doubtsAbout }: SourceContent, name: string) =>
    ((await doubtsAbout?.([member(name)])) ?? []).map(({ because }) => because);

  describe.each(FOREIGN)('%s', (_, files, severity) => {
    it.each([
      ['was there before', [{ ...a, ...b, ...files }, withoutB]],
      ['came before', [{ ...a, ...b }, files, withoutB]],
      ['is as old as all of Git', [{ ...a, ...b, ...files }, { 'c.txt': 'x' }, withoutB, { 'c.txt': 'y' }]],
    ])('lets an object go if it %s', async (_name, commits) => {
      for (const content of await follow(commits)) {
        expect([names(content), content.complete]).toEqual([['a'], true]);
        expect(new Set(content.problems.map((one) => one.severity))).toEqual(new Set([severity]));
        expect(await doubted(content, 'b')).toEqual([]);
      }
    });
  });

  it.each<[string, Files]>([
    ['a playbook', { 'deploy.yml': '- hosts: hub\n' }],
    ['a file that does not name it', { 'mkdocs.yml': 'site_name: bb b-b\nemoji: !x y\n' }],
    ['a chart that does not name it', { 'chart/Chart.yaml': 'name: x\n' }],
  ])('lets an object go with the commit that adds %s', async (_, files) => {
    for (const content of await follow([
      { ...a, ...b },
      { ...files, ...withoutB },
    ]))
      expect([names(content), content.complete]).toEqual([['a'], true]);
  });

  it.each<[string, Files, string]>([
    ['its file was renamed and broken', { 'new.yaml': BROKEN('b') }, 'new.yaml'],
    ['its file became a link', { 'new.yaml': { symlink: 'b.yaml' } }, 'new.yaml'],
    [
      'it went to a chart',
      { 'c/Chart.yaml': 'name: x\n', 'c/templates/b.yaml': BROKEN('b') },
      'c/Chart.yaml',
    ],
    [
      'it went to a kustomization that gives names',
      { 'k/kustomization.yaml': 'namePrefix: b\nnamePrefix: c\n' },
      'k/kustomization.yaml',
    ],
    ['its file is a pointer now', { 'new.yaml': 'version https://git-lfs.github.com/spec/v1\n' }, 'new.yaml'],
  ])('keeps an object if %s', async (_, files, place) => {
    const [running, ...later] = await follow([
      { ...a, ...b },
      { ...withoutB, ...files },
    ]);
    for (const content of [running as SourceContent, ...later]) {
      expect([names(content), content.complete]).toEqual([['a', 'b'], false]);
      expect(content.staying).toMatchObject([{ because: `${place} cannot be read` }]);
      expect(await doubted(content, 'b')).toEqual([`${place} cannot be read`]);
    }
  });

  it('keeps an object although no commit could be read whole, and its file was renamed and broken some commits ago', async () => {
    const playbook = { 'deploy.yml': '- hosts: hub\n- [\n' };
    const commits = [
      { ...playbook, ...a, ...b, 'c.yaml': configMap('c') },
      { ...withoutB, 'new.yaml': BROKEN('b') },
      { 'c.yaml': null },
      { 'd.txt': 'x' },
    ];
    for (const content of await follow(commits))
      expect([names(content), content.complete]).toEqual([['a', 'b', 'c'], false]);
  });

  it('lets an object go that left many commits ago, although a playbook that names it changed since', async () => {
    const playbook = (text: string) => ({ 'deploy.yml': `- hosts: b\n- [${text}\n` });
    const commits = [{ ...playbook('1'), ...a, ...b }, withoutB, playbook('2'), playbook('3')];
    for (const content of await follow(commits))
      expect([names(content), content.complete]).toEqual([['a'], true]);
  });

  it.each<[string, Files, Files]>([
    ['a manifest', { 'web.yaml': configMap('w') }, { 'web.yaml': 'a: b: c' }],
    [
      'a part of a manifest',
      { 'web.yaml': configMap('w') },
      { 'web.yaml': `${configMap('w')}---\n${BROKEN('x')}` },
    ],
    ['a folder of manifests', { 'd/web.yaml': configMap('w') }, { 'd/Chart.yaml': 'name: x\n' }],
    [
      'a folder of manifests that became a kustomization',
      { 'd/web.yaml': configMap('w') },
      { 'd/kustomization.yaml': 'resources: ["https://example.org/x"]\n' },
    ],
  ])('keeps everything after %s broke', async (_, before, after) => {
    for (const content of await follow([{ ...a, ...b, ...before }, after, withoutB])) {
      expect([names(content), content.complete]).toEqual([['a', 'b', 'w'], false]);
      expect(content.problems.filter(({ severity }) => severity === 'error')).not.toEqual([]);
      expect(content.staying?.map(({ object }) => object.metadata.name)).toEqual(['b']);
      expect(await doubted(content, 'unknown')).toHaveLength(1);
    }
  });

  it.each([
    ['was empty', ''],
    ['was gone', null],
  ])('keeps everything while a file is broken that %s in a commit not read whole', async (_, absent) => {
    const [w, x] = [{ 'w.yaml': configMap('w') }, { 'x.yaml': configMap('x') }];
    const commits = [
      { ...a, ...b, ...w, ...x },
      { 'x.yaml': BROKEN('x') },
      { 'w.yaml': absent },
      { ...x, ...withoutB, 'w.yaml': BROKEN('w') },
    ];
    for (const content of await follow(commits)) {
      expect([names(content), content.complete]).toEqual([['a', 'b', 'w', 'x'], false]);
      expect(await doubted(content, 'unknown')).toEqual(['w.yaml cannot be read']);
    }
  });

  it('lets an object go although a file is broken that was empty when all was read', async () => {
    const commits = [{ ...a, ...b, 'w.yaml': configMap('w') }, { 'w.yaml': '' }, { 'w.yaml': '[' }, withoutB];
    for (const content of await follow(commits))
      expect([names(content), content.complete]).toEqual([['a'], true]);
  });

  it('keeps an object whose document lost its kind, although the data were lost meanwhile', async () => {
    for (const content of await follow([
      { ...a, ...b },
      { 'b.yaml': 'metadata: {name: b}\n' },
      { 'c.txt': 'x' },
    ]))
      expect(await doubted(content, 'b')).toEqual([
        'b.yaml declared it, and has a document that is no object',
      ]);
  });

  it('deletes what was kept once the file is corrected or gone', async () => {
    const [running] = await follow([
      { ...a, ...b },
      { 'a.yaml': BROKEN('a') },
      withoutB,
      { 'a.yaml': configMap('a') },
    ]);
    expect([names(running as SourceContent), running?.complete]).toEqual([['a'], true]);
  });

  it('keeps everything where the history of a file is cut off', async () => {
    fixture.commit({ ...a, ...b });
    fixture.commit({ 'a.yaml': BROKEN('a') });
    fixture.commit(withoutB);
    const shallow = path.join(tempDir(), 'shallow.git');
    fixture.git('clone', '-q', '--bare', '--depth', '1', `file://${fixture.dir}`, shallow);
    const source = await openGitSource({
      url: shallow,
      mirrorDir: path.join(tempDir(), 'm.git'),
      ambient: process.env,
    });
    await source.fetch();
    const content = await source.read();
    expect(content.complete).toBe(false);
    expect(await doubted(content, 'b')).toEqual(['a.yaml cannot be read']);
    await source.close();
  });
});
