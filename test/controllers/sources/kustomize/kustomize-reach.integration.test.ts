import { existsSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitProgramRepository } from '../../../../packages/git-reader/src/program/git-program-repository.ts';
import { SourceReader } from '../../../../src/controllers/sources/reading/source-reader.ts';
import { eachWithRepository } from '../../../adapters/git/each-with-repository.ts';
import { type GitFixture, tempDir } from '../../../../packages/git-reader/test/git-fixture.ts';
import type { FixtureFile } from '../../../../packages/git-reader/test/git-fixture.ts';
import { hasKubectl } from '../../../e2e/kubectl-program.ts';

const CONFIG_MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const found = hasKubectl();

describe.runIf(found)('what a kustomization may reach', () => {
  let fixture: GitFixture;
  let repository: GitProgramRepository;
  eachWithRepository(GitProgramRepository, (given) => ({ fixture, repository } = given));
  let server: http.Server;
  let address: string;
  let asked: (string | undefined)[];
  beforeEach(async () => {
    asked = [];
    server = http.createServer((request, response) => {
      asked.push(request.url);
      response.end(CONFIG_MAP);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));
  const read = (files: Record<string, FixtureFile>) =>
    new SourceReader(repository, { ambient: process.env }).read(
      fixture.commit({ 'k/a.yaml': CONFIG_MAP, ...files }),
    );
  const patcher = () =>
    `apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: ${address}\n`;
  const indented = (text: string) => text.replace(/^/gm, '    ');
  const REFERENCE = 'source.kustomize-reference';

  const CASES: readonly [string, string, () => Record<string, string>][] = [
    ['a patch', REFERENCE, () => ({ 'k/kustomization.yaml': `patches: [{path: "${address}"}]\n` })],
    [
      'a patch whose address is escaped',
      REFERENCE,
      () => ({ 'k/kustomization.yaml': `patches: [{path: "\\x68ttp${address.slice(4)}"}]\n` }),
    ],
    [
      'a strategic merge patch',
      REFERENCE,
      () => ({ 'k/kustomization.yaml': `patchesStrategicMerge: ["${address}"]\n` }),
    ],
    [
      'a generated ConfigMap',
      REFERENCE,
      () => ({
        'k/kustomization.yaml': `configMapGenerator: [{name: x, files: ["token=HTTP${address.slice(4)}"]}]\n`,
      }),
    ],
    [
      'a generated Secret',
      REFERENCE,
      () => ({ 'k/kustomization.yaml': `secretGenerator: [{name: x, envs: ["${address}"]}]\n` }),
    ],
    ['a schema', REFERENCE, () => ({ 'k/kustomization.yaml': `openapi: {path: "${address}"}\n` })],
    ['a configuration', REFERENCE, () => ({ 'k/kustomization.yaml': `configurations: ["${address}"]\n` })],
    [
      'a replacement',
      REFERENCE,
      () => ({ 'k/kustomization.yaml': `replacements: [{path: "${address}"}]\n` }),
    ],
    [
      'a field in capitals',
      REFERENCE,
      () => ({ 'k/kustomization.yaml': `Resources: [a.yaml, "${address}"]\n` }),
    ],
    [
      'a field that is there twice',
      'source.kustomize',
      () => ({ 'k/kustomization.yaml': `resources: [a.yaml]\nresources: ["${address}"]\n` }),
    ],
    [
      'a second document',
      'source.kustomize',
      () => ({ 'k/kustomization.yaml': `resources: ["${address}"]\n---\na: b\n` }),
    ],
    [
      'a merge key',
      'source.kustomize',
      () => ({ 'k/kustomization.yaml': 'resources: [a.yaml]\n<<: {resources: [./sub]}\n' }),
    ],
    [
      'a tag that hides the text',
      'source.kustomize',
      () => ({
        'k/kustomization.yaml': `patches: [{path: !!binary ${Buffer.from(address).toString('base64')}}]\n`,
      }),
    ],
    ...['\u0085', '\u2028', '\u2029'].map((lineBreak): (typeof CASES)[number] => [
      `a comment that ends at ${JSON.stringify(lineBreak)} for kustomize alone`,
      'source.kustomize',
      () => ({
        'k/kustomization.yaml': `resources: [a.yaml]\n# that is all${lineBreak}patches: [{path: "${address}"}]\n`,
      }),
    ]),
    [
      'such a comment in a transformer',
      'source.kustomize',
      () => ({
        'k/kustomization.yaml': 'resources: [a.yaml]\ntransformers: [t.yaml]\n',
        'k/t.yaml': `apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\n# x\u2028path: ${address}\n`,
      }),
    ],
    ['UTF-16', 'source.kustomize', () => ({ 'k/kustomization.yaml': `\u{feff}resources: ["${address}"]\n` })],
    [
      'a transformer in place',
      REFERENCE,
      () => ({
        'k/kustomization.yaml': `resources: [a.yaml]\ntransformers:\n- |-\n${indented(patcher())}\n`,
      }),
    ],
    [
      'a transformer in a file',
      REFERENCE,
      () => ({
        'k/kustomization.yaml': 'resources: [a.yaml]\ntransformers: [t.yaml]\n',
        'k/t.yaml': patcher(),
      }),
    ],
    [
      'a transformer that a folder is rendered to',
      REFERENCE,
      () => ({
        'k/kustomization.yaml': 'resources: [a.yaml]\ntransformers: [./sub]\n',
        'k/sub/kustomization.yaml': 'resources: [t.yaml]\n',
        'k/sub/t.yaml': patcher(),
      }),
    ],
    [
      'a base',
      REFERENCE,
      () => ({
        'k/kustomization.yaml': 'resources: [../base]\n',
        'base/kustomization.yaml': `patches: [{path: "${address}"}]\n`,
      }),
    ],
  ];
  it.each(CASES)('nothing by %s', async (name, code, files) => {
    const encoded = Object.entries(files()).map(([file, text]) => [
      file,
      name === 'UTF-16' ? Buffer.from(text, 'utf16le') : text,
    ]);
    const content = await read(Object.fromEntries(encoded) as Record<string, FixtureFile>);
    expect(asked).toEqual([]);
    expect(content.problems).toMatchObject([{ code, location: { file: 'k/kustomization.yaml' } }]);
  });

  it('addresses where nothing opens them are texts as any other', async () => {
    const content = await read({
      'k/kustomization.yaml': [
        'resources: [a.yaml]',
        `commonAnnotations: {docs: "${address}"}`,
        `configMapGenerator: [{name: x, literals: ["API=${address}"]}]`,
        'transformers: [labels.yaml]',
        'patches:',
        '- target: {kind: ConfigMap, name: a}',
        `  patch: '[{"op": "add", "path": "/data", "value": {"api": "${address}"}}]'`,
      ].join('\n'),
      'k/labels.yaml':
        'apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: l}\nlabels: {team: a}\nfieldSpecs: [{path: metadata/labels, create: true}]\n',
    });
    expect(content.problems).toEqual([]);
    expect(content.objects.map(({ object }) => object.metadata.labels)).toContainEqual({ team: 'a' });
    expect(asked).toEqual([]);
  });

  it('no folder outside the repository, whatever name its field has to Go', async () => {
    const outside = tempDir();
    writeFileSync(path.join(outside, 'kustomization.yaml'), 'resources: [a.yaml]\n');
    writeFileSync(path.join(outside, 'a.yaml'), CONFIG_MAP.replace('name: a', 'name: outside'));
    const way = path.join('../../../../../..', outside);
    const content = await read({ 'k/kustomization.yaml': `re\u017fources: [a.yaml, ${way}]\n` });
    expect(content.objects).toEqual([]);
    expect(content.problems).toMatchObject([{ code: REFERENCE }]);
  });

  it('no git configuration of the repository, which could make git write anywhere', async () => {
    const trace = path.join(tempDir(), 'written');
    await read({
      'kustomization.yaml': 'resources: [github.com/example/base]\n',
      'github.com/example/base/kustomization.yaml': 'resources: []\n',
      '.gitconfig': `[trace2]\n  normalTarget = ${trace}\n`,
    });
    expect(existsSync(trace)).toBe(false);
  });

  it('the same problem has the same text every time', async () => {
    const files = { 'k/kustomization.yaml': 'resources: [a.yaml]\npatches: [{path: gone.yaml}]\n' };
    const first = await read(files);
    expect(first.problems[0]?.message).toMatch(/^kustomize failed: .*gone\.yaml/);
    expect((await read(files)).problems.map(({ message }) => message)).toEqual(
      first.problems.map(({ message }) => message),
    );
    expect(first.problems[0]?.message).not.toMatch(/run\.go|E\d{4} /);
  });
});
