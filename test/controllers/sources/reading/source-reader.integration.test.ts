import path from 'node:path';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GitProgramRepository } from '../../../../packages/git-reader/src/program/git-program-repository.ts';
import type { SourceContent } from '../../../../src/controllers/sources/manifests/source-content.ts';
import { SourceReader } from '../../../../src/controllers/sources/reading/source-reader.ts';
import { openGitSource } from '../../../../src/controllers/sources/reading/git-source.ts';
import { readSourceFolder } from '../../../../src/controllers/sources/reading/read-source-folder.ts';
import { eachWithRepository } from '../../../adapters/git/each-with-repository.ts';
import { type FixtureFile, GitFixture, tempDir } from '../../../../packages/git-reader/test/git-fixture.ts';
import { whenIdle } from '@berth/test-kit/when-idle';

const configMap = (name: string, value = '1') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {v: "${value}"}\n`;
const names = (content: SourceContent) => content.objects.map(({ object }) => object.metadata.name);
const codes = (content: SourceContent) =>
  content.problems.map(({ code, location }) => `${code} ${location?.file}`);
const valueOf = (content: SourceContent, name: string) =>
  (
    content.objects.find(({ object }) => object.metadata.name === name)?.object['data'] as
      | { v: string }
      | undefined
  )?.v;

describe('reading fleets from commits', () => {
  let fixture: GitFixture;
  let repository: GitProgramRepository;
  eachWithRepository(GitProgramRepository, (given) => ({ fixture, repository } = given));

  it('takes YAML and JSON, leaves hidden and other files, and names the commit', async () => {
    const commit = fixture.commit({
      'b.yaml': configMap('b'),
      'a/x.yml': configMap('x'),
      'j.json': JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'j' } }),
      'README.md': '# x: [',
      '.github/workflows/ci.yaml': 'on: push',
    });
    const content = await new SourceReader(repository).read(commit);
    expect(names(content)).toEqual(['x', 'b', 'j']);
    expect(content.objects[0]?.location).toEqual({ file: 'a/x.yml', line: 1, column: 1 });
    expect(content).toMatchObject({ problems: [], files: 3, complete: true, commit: { id: commit } });
    expect(await content.textOf('b.yaml')).toBe(configMap('b'));
    expect(await content.textOf('gone.yaml')).toBeUndefined();
  });

  it.each([
    [['fleet'], ['a', 'b']],
    [['fleet/*.yaml'], ['a']],
    [['**/b.yaml'], ['b']],
    [['fleet', '!fleet/sub'], ['a']],
    [['.'], ['a', 'b', 'c']],
    [['.hidden'], ['h']],
  ])('reads only %j', async (paths, want) => {
    const commit = fixture.commit({
      'fleet/a.yaml': configMap('a'),
      'fleet/sub/b.yaml': configMap('b'),
      'other/c.yaml': configMap('c'),
      '.hidden/h.yaml': configMap('h'),
    });
    expect(names(await new SourceReader(repository, { paths }).read(commit))).toEqual(want);
  });

  it('reads the next commit from its difference, and comes to the same as from scratch', async () => {
    const reader = new SourceReader(repository);
    await reader.read(
      fixture.commit({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b'), 'c.yaml': configMap('c') }),
    );
    const commit = fixture.commit({
      'a.yaml': null,
      'b.yaml': configMap('b', '2'),
      'aa.yaml': configMap('new'),
    });
    const content = await reader.read(commit);
    expect(names(content)).toEqual(['new', 'b', 'c']);
    const { textOf: _1, ...incremental } = content;
    const { textOf: _2, ...fresh } = await new SourceReader(repository).read(commit);
    expect(incremental).toEqual(fresh);
  });

  it('reads the same commit again without looking at its files', async () => {
    const reader = new SourceReader(repository);
    const commit = fixture.commit({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b') });
    const first = await reader.read(commit);
    expect(await reader.read(commit)).toBe(first);
    const broken = fixture.commit({ 'a.yaml': 'a: b: c' });
    expect(codes(await reader.read(broken))).toEqual(codes(await reader.read(broken)));
  });

  it('goes on from what an earlier reader kept, as from scratch', async () => {
    const commits = [
      fixture.commit({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b') }),
      fixture.commit({ 'a.yaml': configMap('a', '2') }),
      fixture.commit({ 'a.yaml': configMap('a'), 'c.yaml': configMap('c') }, { orphan: true }),
      fixture.commit({ 'a.yaml': 'a: b: c' }),
      fixture.commit({ 'a.yaml': configMap('a', '3') }),
    ];
    for (const from of commits)
      for (const to of commits) {
        const earlier = new SourceReader(repository, { keepLastGood: true });
        await earlier.read(from);
        const start = earlier.keep();
        // Nothing of it holds its reader: each plan goes on from the one before.
        expect(start?.lastComplete).not.toHaveProperty('textOf');
        // What it reads next does not change what it kept.
        await earlier.read(commits[1] ?? '');
        const later = await new SourceReader(repository, { keepLastGood: true, start }).read(to);
        const fresh = await new SourceReader(repository, { keepLastGood: true }).read(to);
        const { textOf, doubtsAbout: _, ...content } = later;
        expect(content).toEqual({ ...fresh, textOf: undefined, doubtsAbout: undefined });
        expect(await textOf('a.yaml')).toBe(await fresh.textOf('a.yaml'));
      }
  });

  it('comes to the same as from scratch whatever few files a commit changed, and on to the next one', async () => {
    const work = (folder: string) =>
      `apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata:\n  name: w\n  namespace: c1\n  annotations: {berth.dev/manifests: ${folder}}\nspec: {workload: {manifests: []}}\n`;
    const history: Record<string, FixtureFile>[] = [
      {
        'a.yaml': configMap('a'),
        'b.yaml': `${configMap('b')}---\n${configMap('c')}`,
        'd/x.yaml': configMap('x'),
      },
      { 'a.yaml': configMap('a', '2') },
      { 'b.yaml': `${configMap('c')}---\n${configMap('b', '2')}` },
      { 'b.yaml': `# moved down\n${configMap('c')}---\n${configMap('b', '3')}`, 'README.md': 'x' },
      { 'b.yaml': configMap('c', '4') },
      { 'a.yaml': configMap('c', 'twice') },
      { 'b.yaml': `# moved down\n${configMap('c', '5')}` },
      { 'a.yaml': 'x: [' },
      { 'a.yaml': configMap('a', '6') },
      { 'd/x.yaml': configMap('x', '7'), 'a.yaml': configMap('a', '7'), 'b.yaml': configMap('b', '7') },
      { 'a.yaml': '' },
      { 'a.yaml': work('d') },
      { 'd/x.yaml': configMap('x', '8') },
      { 'a.yaml': configMap('a', '8') },
      { 'd/x.yaml': { symlink: '../b.yaml' } },
      { 'd/x.yaml': configMap('x', '9') },
      { 'd/kustomization.yaml': 'resources: [x.yaml]\n' },
      { 'd/x.yaml': configMap('x', '10') },
      { 'd/kustomization.yaml': null },
      { 'b.yaml': configMap('b', '11') },
    ];
    const reader = new SourceReader(repository);
    for (const files of history) {
      const commit = fixture.commit(files);
      const { textOf: _ours, ...fleet } = await reader.read(commit);
      const { textOf: _reader, ...freshlyRead } = await new SourceReader(repository).read(commit);
      expect(fleet).toEqual(freshlyRead);
    }
  });

  it('keeps what left in a branch as after its merge, whatever the commits of the branch were like', async () => {
    const first = fixture.commit({
      'a.yaml': configMap('a'),
      'b.yaml': configMap('b'),
      'c.yaml': configMap('c'),
    });
    const base = fixture.commit({ 'a.yaml': 'a: [' });
    fixture.git('branch', 'next', base);
    fixture.commit({ 'a.yaml': configMap('a'), 'b.yaml': null }, { branch: 'next' });
    const head = fixture.commit({ 'c.yaml': 'c: [' }, { branch: 'next' });
    const parents = ['-p', base, '-p', head];
    const merge = fixture.git('commit-tree', ...parents, '-m', 'Merge next', `${head}^{tree}`);
    for (const commits of [
      [first, base, merge],
      [base, head],
    ]) {
      const reader = new SourceReader(repository, { keepLastGood: true });
      let content: SourceContent | undefined;
      for (const commit of commits) content = await reader.read(commit);
      expect(content && names(content).toSorted()).toEqual(['a', 'b', 'c']);
    }
  });

  it('goes on from the last commit that it could read', async () => {
    const first = fixture.commit({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b') });
    const second = fixture.commit({ 'a.yaml': configMap('a', '2') });
    const reader = new SourceReader(repository);
    await reader.read(first);
    vi.spyOn(repository, 'readBlobs').mockRejectedValueOnce(new Error('down'));
    await expect(reader.read(second)).rejects.toThrow('down');
    expect(await (await reader.read(first)).textOf('a.yaml')).toBe(configMap('a'));
    const content = await reader.read(second);
    expect(valueOf(content, 'a')).toBe('2');
    expect(await content.textOf('a.yaml')).toBe(configMap('a', '2'));
    expect(await content.textOf('a.yaml', first)).toBe(configMap('a'));
  });

  it('refuses what must not be read, with its path, and goes on', async () => {
    const commit = fixture.commit({
      'ok.yaml': configMap('ok'),
      'link.yaml': { symlink: '/etc/passwd' },
      'sub.yaml': { submodule: '1'.repeat(40) },
      'Twin.yaml': configMap('t1'),
      'twin.yaml': configMap('t2'),
      'latin1.yaml': Buffer.from('a: \xe9\n', 'latin1'),
      'lfs.yaml': 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 3\n',
      'big.yaml': `# ${'x'.repeat(2000)}\n`,
      docs: { symlink: 'README.md' },
    });
    const limits = { maxFileBytes: 1000, maxFiles: 100 };
    const content = await new SourceReader(repository, { limits }).read(commit);
    expect(names(content)).toEqual(['ok']);
    expect(codes(content).sort()).toEqual([
      'source.case-twins Twin.yaml',
      'source.case-twins twin.yaml',
      'source.encoding latin1.yaml',
      'source.lfs-pointer lfs.yaml',
      'source.submodule sub.yaml',
      'source.symlink docs',
      'source.symlink link.yaml',
      'source.too-large big.yaml',
    ]);
    expect(content.problems.find(({ location }) => location?.file === 'docs')?.severity).toBe('warning');
    expect(content.problems.every(({ location }) => location?.commit === commit)).toBe(true);
  });

  it.each(['..', '.git', 'a\nb.yaml'])(
    'refuses a tree with the name %j that only an attacker writes',
    async (name) => {
      const commit = fixture.rawCommit(
        [
          { name, text: configMap('evil') },
          { name: 'ok.yaml', text: configMap('ok') },
        ],
        'evil',
      );
      expect(names(await new SourceReader(repository).read(commit))).toEqual(['ok']);
    },
  );

  it('refuses all files where they are too many', async () => {
    const commit = fixture.commit({ 'a.yaml': '', 'b.yaml': '', 'c.yaml': '' });
    const reader = new SourceReader(repository, { limits: { maxFileBytes: 10, maxFiles: 2 } });
    await expect(reader.read(commit)).rejects.toMatchObject({ code: 'source.too-many-files' });
  });

  it('the first of two objects of one name counts, whatever its version', async () => {
    const commit = fixture.commit({ 'a.yaml': configMap('same'), 'b.yaml': configMap('same', '2') });
    const content = await new SourceReader(repository).read(commit);
    expect(valueOf(content, 'same')).toBe('1');
    expect(content.problems).toMatchObject([
      {
        code: 'source.duplicate-object',
        object: 'ConfigMap same',
        message: expect.stringContaining('a.yaml:1:1 counts'),
      },
    ]);
  });
});

describe('a broken file', () => {
  let fixture: GitFixture;
  beforeEach(() => {
    fixture = new GitFixture();
  });
  afterEach(() => fixture.remove());
  const openSource = () =>
    openGitSource({ url: fixture.dir, mirrorDir: path.join(tempDir(), 'm.git'), ambient: process.env });

  it('keeps its last good objects, in a running process and after a restart', async () => {
    const good = fixture.commit({ 'a.yaml': configMap('a', 'good'), 'b.yaml': configMap('b', '1') });
    const source = await openSource();
    await source.fetch();
    await source.read();
    fixture.commit({ 'a.yaml': configMap('a', 'other').replace('data', 'data: x\n data') });
    const bad = fixture.commit({ 'a.yaml': 'a: b: c', 'b.yaml': configMap('b', '2') });
    expect(await source.fetch()).toEqual({ commit: bad, changed: true });
    const restarted = await openSource();
    await restarted.fetch();
    for (const content of [await source.read(), await restarted.read()]) {
      expect([valueOf(content, 'a'), valueOf(content, 'b')]).toEqual(['good', '2']);
      expect(content.complete).toBe(false);
      expect(content.objects[0]?.location).toMatchObject({ file: 'a.yaml', commit: good });
      expect(content.problems).toMatchObject([
        { code: 'yaml.syntax', location: { file: 'a.yaml', line: 1, commit: bad } },
      ]);
    }
    await source.close();
    await restarted.close();
  });

  it('keeps objects that may have moved into it', async () => {
    const source = await openSource();
    fixture.commit({ 'a.yaml': `${configMap('a')}---\n${configMap('moved')}`, 'b.yaml': configMap('b') });
    await source.fetch();
    await source.read();
    fixture.commit({
      'a.yaml': configMap('a'),
      'b.yaml': `${configMap('b')}---\n${configMap('moved')}oops: [`,
    });
    await source.fetch();
    expect(names(await source.read()).sort()).toEqual(['a', 'b', 'moved']);
    fixture.commit({ 'b.yaml': configMap('b') });
    await source.fetch();
    expect(names(await source.read())).toEqual(['a', 'b']);
    await source.close();
  });

  it('keeps what was deleted meanwhile as it was last, also after a restart', async () => {
    const mirrorDir = path.join(tempDir(), 'm.git');
    const open = () => openGitSource({ url: fixture.dir, mirrorDir, ambient: process.env });
    const read = async (source: Awaited<ReturnType<typeof open>>): Promise<SourceContent> => {
      await source.fetch();
      return source.read();
    };
    const source = await open();
    fixture.commit({ 'a.yaml': configMap('a'), 'b.yaml': configMap('b', 'first') });
    await read(source);
    fixture.commit({ 'a.yaml': 'a: [', 'b.yaml': configMap('b', 'second') });
    await read(source);
    fixture.commit({ 'b.yaml': null });
    expect(valueOf(await read(source), 'b')).toBe('second');
    await source.close();
    const restarted = await open();
    expect(valueOf(await read(restarted), 'b')).toBe('second');
    await restarted.close();
  });

  it.each([
    ['a submodule', { submodule: '0123456789012345678901234567890123456789' }, 'source.submodule'],
    ['a link', { symlink: 'elsewhere' }, 'source.symlink'],
  ] as const)(
    'keeps what %s in the place of its folder hides, until that is left out',
    async (_name, entry, code) => {
      const mirrorDir = path.join(tempDir(), 'm.git');
      const open = (paths?: string[]) =>
        openGitSource({ url: fixture.dir, mirrorDir, ambient: process.env, paths });
      const source = await open();
      fixture.commit({ 'team/x.yaml': configMap('x'), 'b.yaml': configMap('b'), other: entry });
      await source.fetch();
      const before = await source.read();
      expect([before.complete, before.problems.map(({ severity }) => severity)]).toEqual([true, ['warning']]);
      fixture.commit({ 'team/x.yaml': null, team: entry });
      await source.fetch();
      const want = [
        { code, severity: 'warning', location: { file: 'other' } },
        { code, severity: 'error', location: { file: 'team' } },
      ];
      const hidden = await source.read();
      expect(names(hidden).sort()).toEqual(['b', 'x']);
      expect([hidden.complete, hidden.problems]).toMatchObject([false, want]);
      await source.settle();
      await source.close();
      const restarted = await open();
      await restarted.fetch();
      const again = await restarted.read();
      expect([names(again).sort(), again.complete, again.problems]).toMatchObject([['b', 'x'], false, want]);
      await restarted.close();
      const narrowed = await open(['!team']);
      await narrowed.fetch();
      const without = await narrowed.read();
      expect([names(without), without.complete]).toEqual([['b'], true]);
      await narrowed.close();
    },
  );

  it('that never was whole gives the objects that can be read', async () => {
    fixture.commit({ 'a.yaml': `${configMap('a')}---\nx: [\n` });
    const source = await openSource();
    await source.fetch();
    const content = await source.read();
    expect(names(content)).toEqual(['a']);
    expect(content.complete).toBe(false);
    await source.close();
  });

  it('survives a history that was rewritten under it', async () => {
    const source = await openSource();
    fixture.commit({ 'a.yaml': configMap('a') });
    await source.fetch();
    await source.read();
    const rewritten = fixture.commit({ 'z.yaml': configMap('z') }, { orphan: true });
    expect(await source.fetch()).toEqual({ commit: rewritten, changed: true });
    expect(names(await source.read())).toEqual(['z']);
    expect(await source.fetch()).toEqual({ commit: rewritten, changed: false });
    await source.close();
  });
});

describe('reading a folder', () => {
  it('reads files, refuses links, names paths', async () => {
    const folder = tempDir();
    mkdirSync(path.join(folder, 'sub'));
    writeFileSync(path.join(folder, 'sub/a.yaml'), configMap('a'));
    writeFileSync(path.join(folder, 'b.yaml'), 'a: [');
    symlinkSync('/etc/passwd', path.join(folder, 'link.yaml'));
    const content = await readSourceFolder(folder);
    expect(names(content)).toEqual(['a']);
    expect(codes(content)).toEqual([`source.symlink ${folder}/link.yaml`, `yaml.syntax ${folder}/b.yaml`]);
    expect(content.complete).toBe(false);
    expect(await content.textOf(path.join(folder, 'b.yaml'))).toBe('a: [');
  });

  it('reads a single file, and says when there is nothing', async () => {
    const file = path.join(tempDir(), 'one.yaml');
    writeFileSync(file, configMap('one'));
    expect(names(await readSourceFolder(file))).toEqual(['one']);
    await expect(readSourceFolder('/no/such')).rejects.toMatchObject({ code: 'source.not-found' });
  });
});

describe('a mirror that is tidied up', () => {
  it('holds up no commit, is waited for at the end, and tells the next time what went wrong', async () => {
    const fixture = new GitFixture();
    fixture.commit({ 'a.yaml': configMap('a') });
    const source = await openGitSource({
      url: fixture.dir,
      mirrorDir: path.join(tempDir(), 'm.git'),
      ambient: process.env,
    });
    const ends: ((error?: Error) => void)[] = [];
    vi.spyOn(source.repository, 'repack').mockImplementation(
      () => new Promise((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
    );
    await source.fetch();
    await source.read();
    await source.settle();
    fixture.commit({ 'b.yaml': configMap('b') });
    await source.fetch();
    expect(names(await source.read()).sort()).toEqual(['a', 'b']);
    await source.settle();
    expect(ends).toHaveLength(1);
    ends[0]?.(new Error('no room'));
    await new Promise(setImmediate);
    await expect(source.settle()).rejects.toThrow('no room');
    let closed = false;
    const closing = source.close().then(() => (closed = true));
    await whenIdle(() => Number(closed));
    expect(closed).toBe(false);
    ends[1]?.();
    await closing;
    fixture.remove();
  });
});
