import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { GitProgramRepository } from '../../../../packages/git-reader/src/program/git-program-repository.ts';
import type { SourceContent } from '../../../../src/controllers/sources/manifests/source-content.ts';
import { SourceReader } from '../../../../src/controllers/sources/reading/source-reader.ts';
import { eachWithRepository } from '../../../adapters/git/each-with-repository.ts';
import { type GitFixture, tempDir } from '../../../../packages/git-reader/test/git-fixture.ts';
import type { FixtureFile } from '../../../../packages/git-reader/test/git-fixture.ts';
import { hasKubectl } from '../../../e2e/kubectl-program.ts';

const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
const names = (content: SourceContent) => content.objects.map(({ object }) => object.metadata.name).sort();
const problems = (content: SourceContent) =>
  content.problems.map(({ code, location }) => `${code} ${location?.file}`).sort();
const found = hasKubectl();

class CountingRepository extends GitProgramRepository {
  bytes = 0;
  override readBlobs(...[ids, options, onBlob]: Parameters<GitProgramRepository['readBlobs']>) {
    return super.readBlobs(ids, options, (blob) => {
      if (blob.state === 'read') this.bytes += blob.bytes.length;
      onBlob(blob);
    });
  }
}

describe('kustomizations that are wrong or hostile', () => {
  let fixture: GitFixture;
  let repository: CountingRepository;
  eachWithRepository(CountingRepository, (given) => ({ fixture, repository } = given));
  const read = (files: Record<string, FixtureFile>, paths?: string[]) =>
    new SourceReader(repository, { ambient: process.env, paths }).read(fixture.commit(files));

  it.runIf(found)('are named when they build on themselves, in a circle of any length', async () => {
    const content = await read({
      'ok.yaml': configMap('ok'),
      'self/kustomization.yaml': 'resources: [a.yaml, .]\n',
      'self/a.yaml': configMap('a'),
      'x/kustomization.yaml': 'resources: [../y]\n',
      'y/kustomization.yaml': 'resources: [../z]\n',
      'z/kustomization.yaml': 'resources: [../x]\n',
    });
    expect(content.complete).toBe(false);
    expect(problems(content)).toEqual([
      'source.kustomize self/kustomization.yaml',
      'source.kustomize x/kustomization.yaml',
    ]);
    expect(content.problems.every(({ message }) => message.includes('cycle detected'))).toBe(true);
  });

  it.runIf(found)('do not take away what others ask for by building on it', async () => {
    const files = {
      'prod/kustomization.yaml': 'resources: [a.yaml]\n',
      'prod/a.yaml': configMap('a'),
      'trial/kustomization.yaml': 'namePrefix: trial-\nresources: [../prod]\n',
    };
    expect(names(await read(files, ['prod']))).toEqual(['a']);
    expect(names(await read({}, ['!trial']))).toEqual(['a']);
    expect(names(await read({}))).toEqual(['trial-a']);
  });

  it.each([
    ['a merge that stopped half way', '<<<<<<< HEAD\nresources: [../base]\n=======\n>>>>>>> x\n'],
    ['a lost bracket', 'resources: [../base\nnamePrefix: prod-\n'],
    ['a field that is there twice', 'resources:\n- "../base/"\nnamePrefix: a-\nnamePrefix: b-\n'],
    ['a list that is none', 'resources: ../base\n'],
    ['an entry that is no text', 'resources:\n- {path: ../base}\n'],
    ['a misspelt field', 'resource:\n- ../base\n'],
    ['a merge key', 'x: &x {resources: [../base]}\n<<: *x\n'],
    ['no fields at all', '- ../base\n'],
    ['a single text', '../base\n'],
  ])('do not bring what they build on by itself: %s', async (_name, text) => {
    const content = await read({
      'base/kustomization.yaml': 'resources: [a.yaml]\n',
      'base/a.yaml': configMap('a'),
      'prod/kustomization.yaml': text,
    });
    expect(names(content)).toEqual([]);
    expect(content.complete).toBe(false);
    expect(problems(content)).toEqual(['source.kustomize prod/kustomization.yaml']);
  });

  it('name the line and column of a field that is there twice, also in a base', async () => {
    const content = await read({
      'base/kustomization.yaml': '# fleet\nresources: [a.yaml]\nnamePrefix: a-\nnamePrefix: b-\n',
      'base/a.yaml': configMap('a'),
      'prod/kustomization.yaml': 'resources: [../base]\n',
    });
    expect(content.problems).toMatchObject([
      { message: expect.stringContaining('duplicated mapping key') as string },
    ]);
    expect(content.problems[0]?.location).toMatchObject({
      file: 'base/kustomization.yaml',
      line: 4,
      column: 1,
    });
  });

  it.runIf(found)('leave alone what they name and do not build on', async () => {
    const content = await read({
      'base/kustomization.yaml': 'resources: [a.yaml]\n',
      'base/a.yaml': configMap('a'),
      'kustomization.yaml': 'namespace: base\ncommonAnnotations: {see: base}\nresources: [b.yaml]\n',
      'b.yaml': configMap('b'),
    });
    expect(names(content)).toEqual(['a', 'b']);
    expect(content.complete).toBe(true);
  });

  it('are refused where they are links', async () => {
    const content = await read({
      'k/kustomization.yaml': { symlink: '../other/kustomization.yaml' },
      'l/kustomization.yaml': 'resources: [link.yaml]\n',
      'l/link.yaml': { symlink: '../ok.yaml' },
      'ok.yaml': configMap('ok'),
    });
    expect(names(content)).toEqual(['ok']);
    expect(content.problems).toMatchObject([
      { code: 'source.symlink', location: { file: 'k/kustomization.yaml' } },
      { code: 'source.kustomize-reference', hint: expect.stringContaining('symbolic link') as string },
    ]);
  });

  it.runIf(found)('harm only themselves with names that no disk takes', async () => {
    const content = await read({
      'k/kustomization.yaml': 'resources: [a.yaml]\n',
      'k/a.yaml': configMap('a'),
      [`k/${'x'.repeat(300)}`]: 'x',
      'ok.yaml': configMap('ok'),
      'other/kustomization.yaml': 'resources: [a.yaml]\n',
      'other/a.yaml': configMap('other'),
    });
    expect(names(content)).toEqual(['ok', 'other']);
    expect(problems(content)).toEqual(['source.kustomize k/kustomization.yaml']);
    expect(content.problems[0]?.message).toMatch(/k\/xxx.*ENAMETOOLONG/);
  });

  it('are refused when their files are too much for any memory', async () => {
    const large = Buffer.alloc(8 * 1024 * 1024);
    const files: Record<string, FixtureFile> = { 'k/kustomization.yaml': 'resources: [a.yaml]\n' };
    for (let at = 0; at < 40; at++) files[`k/${at}.bin`] = large;
    const content = await read({ ...files, 'k/a.yaml': configMap('a') });
    expect(content.problems[0]?.message).toMatch(/over more than 67108864 bytes/);
    expect(repository.bytes).toBeLessThan(160 * 1024 * 1024);
  });

  it('are refused when they are a chain that nobody follows to its end', async () => {
    const files: Record<string, FixtureFile> = { 'ok.yaml': configMap('ok') };
    for (let at = 0; at < 12_000; at++) files[`k${at}/kustomization.yaml`] = `resources: [../k${at + 1}]\n`;
    const content = await read(files);
    expect(names(content)).toEqual(['ok']);
    expect(problems(content)).toEqual(['source.kustomize k0/kustomization.yaml']);
  });

  it.runIf(found)('get the names of the files that kustomize was not given', async () => {
    const content = await read({
      'k/kustomization.yaml': 'resources: [a.yaml]\nconfigMapGenerator: [{name: c, files: [big, link]}]\n',
      'k/a.yaml': configMap('a'),
      'k/big': Buffer.alloc(8 * 1024 * 1024 + 1),
      'k/link': { symlink: 'a.yaml' },
    });
    expect(content.problems).toMatchObject([
      {
        code: 'source.kustomize',
        hint: 'kustomize was not given k/big (too large), k/link (got a symbolic link, expected a file)',
      },
    ]);
  });

  it.runIf(found)('run out of memory by themselves', async () => {
    const lines = [`${configMap('a')}x0: &a0 [lol,lol,lol,lol,lol,lol,lol,lol,lol]`];
    for (let at = 1; at < 10; at++)
      lines.push(
        `x${at}: &a${at} [${Array(9)
          .fill(`*a${at - 1}`)
          .join(',')}]`,
      );
    const content = await read({
      'k/kustomization.yaml': 'resources: [a.yaml]\n',
      'k/a.yaml': lines.join('\n'),
    });
    expect(content.problems.map(({ message }) => message)).toEqual([
      'kustomize failed: it took more memory than 2147483648 bytes',
    ]);
  });

  it.runIf(found)('are rendered once kubectl is there', async () => {
    const bin = tempDir();
    const ambient = { PATH: bin };
    const reader = new SourceReader(repository, { ambient });
    const commit = fixture.commit({
      'k/kustomization.yaml': 'resources: [a.yaml]\n',
      'k/a.yaml': configMap('a'),
    });
    const before = await reader.read(commit);
    expect(problems(before)).toEqual(['source.kustomize-missing k/kustomization.yaml']);
    const kubectl = execFileSync('sh', ['-c', 'command -v kubectl'], { encoding: 'utf8' }).trim();
    symlinkSync(kubectl, path.join(bin, 'kubectl'));
    expect(names(await reader.read(commit))).toEqual(['a']);
  });
});
