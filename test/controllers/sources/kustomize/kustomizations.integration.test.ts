import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { GitProgramRepository } from '../../../../packages/git-reader/src/program/git-program-repository.ts';
import type { SourceContent } from '../../../../src/controllers/sources/manifests/source-content.ts';
import { SourceReader } from '../../../../src/controllers/sources/reading/source-reader.ts';
import { readSourceFolder } from '../../../../src/controllers/sources/reading/read-source-folder.ts';
import { eachWithRepository } from '../../../adapters/git/each-with-repository.ts';
import { type GitFixture, tempDir } from '../../../../packages/git-reader/test/git-fixture.ts';
import type { FixtureFile } from '../../../../packages/git-reader/test/git-fixture.ts';
import { hasKubectl } from '../../../e2e/kubectl-program.ts';

const configMap = (name: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {v: "1"}\n`;
const names = (content: SourceContent) =>
  content.objects.map(({ object, location }) => `${object.metadata.name} ${location.file}`).sort();
const found = hasKubectl();

const FILES: Record<string, FixtureFile> = {
  'plain.yaml': configMap('plain'),
  'base/kustomization.yaml': 'resources: [a.yaml]\n',
  'base/a.yaml': configMap('a'),
  'prod/kustomization.yaml': 'namePrefix: prod-\nresources: [../base]\n',
  'dev/kustomization.yaml': 'namePrefix: dev-\nresources: [../base]\n',
};

describe('kustomizations and charts', () => {
  let fixture: GitFixture;
  let repository: GitProgramRepository;
  eachWithRepository(GitProgramRepository, (given) => ({ fixture, repository } = given));
  const read = (
    files: Record<string, FixtureFile>,
    paths?: string[],
    ambient: Record<string, string | undefined> = process.env,
  ) => new SourceReader(repository, { ambient, paths }).read(fixture.commit(files));

  it.runIf(found)('renders what no other kustomization builds on, and nothing twice', async () => {
    const content = await read(FILES);
    expect(content.problems).toEqual([]);
    expect(names(content)).toEqual([
      'dev-a dev/kustomization.yaml',
      'plain plain.yaml',
      'prod-a prod/kustomization.yaml',
    ]);
    expect(names(await read({}, ['prod']))).toEqual(['prod-a prod/kustomization.yaml']);
  });

  it.runIf(found)('renders again only when something that goes into it changes', async () => {
    const reader = new SourceReader(repository, { ambient: process.env });
    const first = await reader.read(fixture.commit(FILES));
    const second = await reader.read(fixture.commit({ 'plain.yaml': configMap('other') }));
    const find = (content: SourceContent) =>
      content.objects.find(({ object }) => object.metadata.name === 'prod-a');
    expect(find(second)).toBe(find(first));
    const third = await reader.read(fixture.commit({ 'base/a.yaml': configMap('b') }));
    expect(names(third)).toContain('prod-b prod/kustomization.yaml');
  });

  it.runIf(found)('reads a folder the same way', async () => {
    const folder = tempDir();
    for (const [file, text] of Object.entries(FILES)) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), text as string);
    }
    expect((await readSourceFolder(folder)).objects.map(({ object }) => object.metadata.name).sort()).toEqual(
      ['dev-a', 'plain', 'prod-a'],
    );
  });

  it('says what is missing when there is no kubectl, and goes on', async () => {
    const content = await read(FILES, undefined, { PATH: '/nonexistent' });
    expect(names(content)).toEqual(['plain plain.yaml']);
    expect(content.complete).toBe(false);
    expect(content.problems.map(({ code, location }) => `${code} ${location?.file}`)).toEqual([
      'source.kustomize-missing dev/kustomization.yaml',
      'source.kustomize-missing prod/kustomization.yaml',
    ]);
  });

  it.each([
    [
      'a remote base',
      'resources: ["https://github.com/example/base?ref=v1"]\n',
      'source.kustomize-reference',
    ],
    ['a remote base in short', 'resources: ["github.com/example/base"]\n', 'source.kustomize-reference'],
    ['a path out of the repository', 'resources: [../../../etc/passwd]\n', 'source.kustomize-reference'],
  ])('never fetches or reads %s', async (_name, text, code) => {
    const content = await read({ 'k/kustomization.yaml': text });
    expect(content.problems).toMatchObject([{ code, location: { file: 'k/kustomization.yaml' } }]);
    const nested = await read({ 'top/kustomization.yaml': 'resources: [../k]\n' });
    expect(nested.problems).toMatchObject([{ code, location: { file: 'top/kustomization.yaml' } }]);
  });

  it.runIf(found).each([
    ['a broken kustomization', { 'k/kustomization.yaml': 'resources: [' }],
    [
      'a file outside its folder',
      { 'k/kustomization.yaml': 'resources: [../plain.yaml]\n', 'plain.yaml': configMap('p') },
    ],
    [
      'a Helm chart inside',
      { 'k/kustomization.yaml': 'helmCharts: [{name: x, repo: "https://example.com"}]\n' },
    ],
  ])('passes on what kustomize says about %s', async (_name, files) => {
    const content = await read(files);
    expect(content.problems).toMatchObject([
      { code: 'source.kustomize', location: { file: 'k/kustomization.yaml' } },
    ]);
    expect(content.problems[0]?.message).not.toContain('berth-kustomize-');
  });

  it('refuses Helm charts, and leaves them out when told to', async () => {
    const files = {
      'chart/Chart.yaml': 'name: x\n',
      'chart/templates/a.yaml': '{{ if }}',
      'ok.yaml': configMap('ok'),
    };
    const content = await read(files);
    expect(names(content)).toEqual(['ok ok.yaml']);
    expect(content.problems).toMatchObject([
      { code: 'source.helm-chart', hint: expect.stringContaining('"!chart"') },
    ]);
    expect((await read({}, ['!chart'])).problems).toEqual([]);
  });
});
