import { readdirSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GitMirror } from '../../src/repository/git-repository.ts';
import { openMirror } from '../../src/open-mirror.ts';
import { withoutGit } from '../fakes/without-git.ts';
import { GitFixture, tempDir } from '../git-fixture.ts';
import { type GitServer, serveHttp } from '../git-servers.ts';

describe('a mirror without a git program', () => {
  let fixture: GitFixture;
  let server: GitServer;
  let mirrorDir: string;
  let mirror: GitMirror | undefined;
  beforeEach(async () => {
    fixture = new GitFixture();
    fixture.commit({ 'a.yaml': 'one', noise: noise(100_000) });
    server = await serveHttp(fixture.dir);
    mirrorDir = path.join(tempDir(), 'mirror.git');
  });
  afterEach(async () => {
    await mirror?.close();
    mirror = undefined;
    await server.close();
    fixture.remove();
  });
  const open = async (url = server.url): Promise<GitMirror> => {
    await mirror?.close();
    const opened = await openMirror({ url, mirrorDir, ambient: withoutGit() }, false);
    expect(opened.inProcess).toBe(true);
    return (mirror = opened.repository);
  };
  const files = (end: string) =>
    readdirSync(path.join(mirrorDir, 'objects/pack'))
      .filter((name) => name.endsWith(end))
      .map((name) => path.join(mirrorDir, 'objects/pack', name));
  const sizes = () => files('.pack').map((file) => statSync(file).size);

  it('takes the git program where there is one', async () => {
    const opened = await openMirror({ url: server.url, mirrorDir, ambient: process.env }, true);
    expect(opened.inProcess).toBe(false);
    await opened.repository.close();
  });

  it.each([{ type: 'head' } as const, { type: 'semver', range: '*' } as const])(
    'asks only for what is new ($type)',
    async (ref) => {
      const follow = await open();
      fixture.git('tag', 'v1.0.0', 'main');
      await follow.fetch(ref);
      await follow.fetch(ref);
      expect(sizes()).toHaveLength(1);
      const second = fixture.commit({ 'a.yaml': 'two' });
      fixture.git('tag', 'v1.1.0', 'main');
      expect(await follow.fetch(ref)).toBe(second);
      expect(Math.min(...sizes())).toBeLessThan(2_000);
      expect(await follow.listTree(second)).toHaveLength(2);
    },
  );

  it('is fetched again when what is kept of it is damaged', async () => {
    const main = { type: 'branch', name: 'main' } as const;
    const follow = await open();
    await follow.fetch(main);
    fixture.commit({ 'a.yaml': 'two' });
    const commit = await follow.fetch(main);
    for (const index of files('.idx')) truncateSync(index, 1_050);
    const again = await open();
    expect(await again.fetch(main)).toBe(commit);
    expect(await again.listTree(commit)).toHaveLength(2);
  });

  it('refuses a small pack with a huge file in it before that is inflated', async () => {
    const follow = await open();
    const commit = await follow.fetch({ type: 'head' });
    fixture.commit({ bomb: Buffer.alloc(65 * 1024 ** 2) });
    const before = sizes();
    await expect(follow.fetch({ type: 'head' })).rejects.toMatchObject({
      name: 'InputError',
      code: 'git.too-large',
      hint: 'install git, or point the source at a repository without such files',
    });
    expect(sizes()).toEqual(before);
    expect(await follow.listTree(commit)).toHaveLength(2);
    const rewritten = fixture.commit({ 'a.yaml': 'two' }, { orphan: true });
    expect(await follow.fetch({ type: 'head' })).toBe(rewritten);
  });

  it('says of a remote with SHA-256 ids that it needs git', async () => {
    const place = path.join(tempDir(), 'sha256.git');
    fixture.git('init', '-q', '--bare', '-b', 'main', '--object-format=sha256', place);
    const tree = fixture.git(`--git-dir=${place}`, 'write-tree');
    const commit = fixture.git(`--git-dir=${place}`, 'commit-tree', tree, '-m', 'x');
    fixture.git(`--git-dir=${place}`, 'update-ref', 'refs/heads/main', commit);
    const other = await serveHttp(place);
    const follow = await open(other.url);
    for (const ref of [{ type: 'head' } as const, { type: 'branch', name: 'main' } as const])
      await expect(follow.fetch(ref)).rejects.toMatchObject({ code: 'git.needs-program' });
    await other.close();
  });

  it('makes room for a branch below the name of one that is gone', async () => {
    fixture.git('branch', 'release', 'main');
    const follow = await open();
    await follow.fetch({ type: 'branch', name: 'release' });
    fixture.git('branch', '-D', 'release');
    fixture.git('branch', 'release/1.2', 'main');
    expect(await follow.fetch({ type: 'branch', name: 'release/1.2' })).toBe(fixture.tip('main'));
    fixture.git('branch', '-D', 'release/1.2');
    fixture.git('branch', 'release', 'main');
    expect(await follow.fetch({ type: 'branch', name: 'release' })).toBe(fixture.tip('main'));
  });

  it.each([['--bare'], ['--no-checkout']])(
    'says so for a local path that is not there, and finds it when it is (%s)',
    async (kind) => {
      const place = path.join(tempDir(), 'later.git');
      const follow = await open(place);
      await expect(follow.fetch({ type: 'head' })).rejects.toMatchObject({
        name: 'InputError',
        code: 'git.repository-not-found',
      });
      fixture.git('clone', '-q', kind, '.', place);
      expect(await follow.fetch({ type: 'head' })).toBe(fixture.tip('main'));
    },
  );

  it('remembers across restarts what was complete of a local path, and writes nothing there', async () => {
    const before = readdirSync(fixture.dir, { recursive: true });
    const commit = fixture.tip('main') ?? '';
    await (await open(fixture.dir)).pin('complete-fleet', commit);
    expect(await (await open(fixture.dir)).pinned('complete-fleet')).toBe(commit);
    expect(readdirSync(fixture.dir, { recursive: true })).toEqual(before);
    const other = new GitFixture();
    other.commit({ 'b.yaml': 'b' });
    expect(await (await open(other.dir)).pinned('complete-fleet')).toBeUndefined();
    other.remove();
  });

  it('belongs to one process at a time, also for a local path', async () => {
    await open(fixture.dir);
    await expect(
      openMirror({ url: fixture.dir, mirrorDir, ambient: withoutGit() }, false),
    ).rejects.toMatchObject({ code: 'git.mirror-in-use' });
  });
});

/** Text that does not compress much. */
function noise(length: number): string {
  return Array.from({ length: length / 6 }, (_, at) =>
    ((at * 2654435761) >>> 0).toString(36).padEnd(6, 'x'),
  ).join('');
}
