import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { GitProgramMirror } from '../../../packages/git-reader/src/open-mirror.ts';
import { openGitSource } from '../../../src/controllers/sources/reading/git-source.ts';
import { withoutGit } from '../../../packages/git-reader/test/fakes/without-git.ts';
import { GitFixture, tempDir } from '../../../packages/git-reader/test/git-fixture.ts';
import { serveHttp } from '../../../packages/git-reader/test/git-servers.ts';

const MAIN = { type: 'branch', name: 'main' } as const;
const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;

describe('a mirror survives', () => {
  let fixture: GitFixture;
  let mirrorDir: string;
  beforeEach(() => {
    fixture = new GitFixture();
    fixture.commit(
      Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}.yaml`, configMap(`c${i}`)])),
    );
    mirrorDir = path.join(tempDir(), 'mirror.git');
  });
  afterEach(() => fixture.remove());
  const open = () => GitProgramMirror.open({ url: fixture.dir, mirrorDir, ambient: process.env });
  const fetchOnce = async (): Promise<number> => {
    const mirror = await open();
    const commit = await mirror.fetch(MAIN);
    const entries = await mirror.listTree(commit);
    let read = 0;
    await mirror.readBlobs(
      entries.map(({ id }) => id),
      { maxBytes: 1e6 },
      (blob) => (read += blob.state === 'read' ? 1 : 0),
    );
    await mirror.close();
    expect(read).toBe(entries.length);
    return entries.length;
  };

  it('being killed at any point of a fetch', async () => {
    await fetchOnce();
    for (let delayMs = 0; delayMs <= 40; delayMs += 4) {
      fixture.commit({
        [`g${delayMs}.yaml`]: configMap(`g${delayMs}`),
        'big.bin': String(delayMs).repeat(300_000),
      });
      const child = spawn('git', ['fetch', '--quiet', fixture.dir, '+refs/heads/main:refs/heads/main'], {
        env: { PATH: process.env['PATH'], GIT_DIR: mirrorDir, GIT_CONFIG_GLOBAL: '/dev/null' },
        stdio: 'ignore',
        detached: true,
      });
      const ended = new Promise((resolve) => child.once('close', resolve));
      // fixed wait: at which moment of its work the process is killed
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
      await ended;
      // What a killed owner leaves besides: its own lock, and the locks of git.
      writeFileSync(path.join(mirrorDir, 'berth-lock'), '999999999');
      writeFileSync(path.join(mirrorDir, 'refs/heads/main.lock'), '');
      writeFileSync(path.join(mirrorDir, 'packed-refs.lock'), '');
      expect(await fetchOnce()).toBe(302 + delayMs / 4);
    }
    expect(
      readdirSync(mirrorDir, { recursive: true }).filter((name) => /\.lock$|tmp_/.test(String(name))),
    ).toEqual([]);
  });

  it.each<[string, (dir: string) => void]>([
    ['a half-made directory', (dir) => rmSync(path.join(dir, 'HEAD'))],
    ['a lost configuration', (dir) => rmSync(path.join(dir, 'config'))],
    ['no objects at all', (dir) => rmSync(path.join(dir, 'objects'), { recursive: true })],
    [
      'another URL than before',
      (dir) => writeFileSync(path.join(dir, 'berth-url'), 'https://elsewhere.example/x'),
    ],
  ])('%s', async (_name, damage) => {
    await fetchOnce();
    damage(mirrorDir);
    expect(await fetchOnce()).toBe(300);
  });

  it('many fetches, by putting their packs together when nothing waits for it', async () => {
    const packs = () =>
      readdirSync(path.join(mirrorDir, 'objects/pack')).filter((name) => name.endsWith('.pack'));
    const mirror = await open();
    let commit = await mirror.fetch(MAIN);
    for (let i = 0; i < 50; i++) {
      fixture.commit({ 'f0.yaml': configMap(`again${i}`) });
      commit = await mirror.fetch(MAIN);
      if (i === 48) await mirror.repack();
    }
    expect(packs()).toHaveLength(51);
    await mirror.repack();
    expect(packs()).toHaveLength(1);
    const [first] = await mirror.listTree(commit);
    const read: string[] = [];
    await mirror.readBlobs([first?.id ?? ''], { maxBytes: 1e6 }, (blob) => read.push(blob.state));
    expect(read).toEqual(['read']);
    await mirror.close();
  });

  it('damaged packs, by fetching everything again', async () => {
    await fetchOnce();
    const packs = path.join(mirrorDir, 'objects/pack');
    for (const name of readdirSync(packs))
      if (name.endsWith('.pack')) truncateSync(path.join(packs, name), 100);
    expect(await fetchOnce()).toBe(300);
  });

  it.each(['http', 'a path'])(
    'a remote over %s with a damaged object, which takes nothing away',
    async (way) => {
      const server = way === 'http' ? await serveHttp(fixture.dir) : undefined;
      const mirror = await GitProgramMirror.open({
        url: server?.url ?? fixture.dir,
        mirrorDir,
        ambient: process.env,
      });
      const before = await mirror.fetch(MAIN);
      const blob = fixture.rawObject('blob', Buffer.from('text'));
      fixture.rawCommit([{ name: 'a.yaml', text: 'text' }], 'main');
      const file = path.join(fixture.dir, 'objects', blob.slice(0, 2), blob.slice(2));
      chmodSync(file, 0o600);
      truncateSync(file, 5);
      await expect(mirror.fetch(MAIN)).rejects.toMatchObject({
        name: 'TransientError',
        code: 'git.remote-damaged',
      });
      expect(await mirror.listTree(before)).toHaveLength(300);
      await mirror.close();
      await server?.close();
    },
  );

  it.each([
    ['with git', 'cut off', process.env],
    ['in process', 'cut off', withoutGit()],
    ['in process', 'overwritten', withoutGit()],
  ])(
    'damage that only reading shows (%s, %s), by fetching everything again once the remote answers',
    async (_how, damage, ambient) => {
      const server = await serveHttp(fixture.dir);
      const open = () => openGitSource({ url: server.url, mirrorDir, ref: MAIN, ambient });
      const source = await open();
      await source.fetch();
      const packs = path.join(mirrorDir, 'objects/pack');
      const [older = ''] = readdirSync(packs).filter((name) => name.endsWith('.pack'));
      fixture.commit({ 'f0.yaml': configMap('again') });
      await source.fetch();
      await source.close();
      const file = path.join(packs, older);
      chmodSync(file, 0o600);
      if (damage === 'cut off') truncateSync(file, 100);
      else {
        const pack = readFileSync(file);
        writeFileSync(file, pack.fill('x', 12, pack.length - 20));
      }
      const again = await open();
      await again.fetch();
      await expect(again.read()).rejects.toMatchObject({
        name: 'TransientError',
        code: 'git.corrupt',
        message: expect.not.stringMatching(/isomorphic|\n/) as string,
      });
      await expect(again.fetch({ signal: AbortSignal.abort() })).rejects.toThrow();
      expect(readdirSync(packs)).toContain(older);
      await again.fetch();
      expect(await again.read()).toMatchObject({ complete: true, files: 300 });
      await again.close();
      await server.close();
    },
  );

  it('a remote that is shallow', async () => {
    fixture.commit({ 'x.yaml': configMap('x') });
    const shallow = path.join(tempDir(), 'shallow.git');
    execFileSync('git', ['clone', '-q', '--bare', '--depth=1', `file://${fixture.dir}`, shallow]);
    const mirror = await GitProgramMirror.open({ url: shallow, mirrorDir, ambient: process.env });
    expect(await mirror.listTree(await mirror.fetch(MAIN))).toHaveLength(301);
    await mirror.close();
  });

  it('a remote whose ids are SHA-256, and one that goes back to SHA-1', async () => {
    const place = path.join(tempDir(), 'remote.git');
    const git = (args: string[], input = '') =>
      execFileSync('git', args, { env: { ...process.env, GIT_DIR: place }, input, encoding: 'utf8' }).trim();
    const make = (format: string): string => {
      rmSync(place, { recursive: true, force: true });
      git(['init', '-q', '--bare', '-b', 'main', `--object-format=${format}`, place]);
      const head = 'commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 1\nx\n';
      git(['fast-import', '--quiet'], `${head}M 100644 inline a.yaml\ndata 4\na: b\n`);
      return git(['rev-parse', 'main']);
    };
    const fetched = async () => {
      const mirror = await GitProgramMirror.open({ url: place, mirrorDir, ambient: process.env });
      const commit = await mirror.fetch(MAIN);
      expect((await mirror.listTree(commit)).map(({ path: name }) => name)).toEqual(['a.yaml']);
      await mirror.close();
      return commit;
    };
    for (const [format, digits] of [
      ['sha256', 64],
      ['sha1', 40],
    ] as const) {
      const commit = make(format);
      expect(commit).toHaveLength(digits);
      expect(await fetched()).toBe(commit);
      expect(await fetched()).toBe(commit);
    }
  });

  it.each([
    ['release', 'release/1.2'],
    ['release/1.2', 'release'],
  ])('settings that follow another branch: first %s, then %s', async (first, second) => {
    fixture.commit({ 'a.yaml': configMap('one') }, { branch: first });
    let mirror = await open();
    const before = await mirror.fetch({ type: 'branch', name: first });
    await mirror.pin('complete-fleet', before);
    await mirror.close();
    fixture.git('update-ref', '-d', `refs/heads/${first}`);
    const next = fixture.commit({ 'a.yaml': configMap('two') }, { branch: second });
    mirror = await open();
    expect(await mirror.fetch({ type: 'branch', name: second })).toBe(next);
    expect(await mirror.pinned('complete-fleet')).toBe(before);
    await mirror.close();
  });

  it('a second owner, by refusing it', async () => {
    const first = await open();
    await expect(open()).rejects.toMatchObject({ name: 'InputError', code: 'git.mirror-in-use' });
    await first.close();
    await (await open()).close();
  });

  it.runIf(existsSync('/proc/self/stat'))(
    'a machine that was restarted, and gave the id of its killed owner to another process',
    async () => {
      const other = spawn('sleep', ['60'], { stdio: 'ignore' });
      const stat = readFileSync(`/proc/${other.pid}/stat`, 'utf8').split(') ').at(-1);
      const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      const ticks = stat?.split(' ')[19] ?? '';
      mkdirSync(mirrorDir);
      const openBeside = async (owner: string) => {
        writeFileSync(path.join(mirrorDir, 'berth-lock'), `${other.pid} ${owner}`);
        await (await open()).close();
      };
      await expect(openBeside(`${ticks} ${bootId}`)).rejects.toMatchObject({ code: 'git.mirror-in-use' });
      await openBeside(`${ticks} 00000000-0000-4000-8000-000000000000`);
      await openBeside(`${Number(ticks) - 1} ${bootId}`);
      other.kill();
    },
  );

  it.runIf(existsSync('/proc/self/stat'))('a killed owner whose parent never asks how it ended', async () => {
    // The second program takes the place of the shell, and knows nothing of its child, which ends after that.
    const child = '(while [ "$(cat /proc/$$/comm)" != sleep ]; do :; done)';
    const parent = spawn('sh', ['-c', `${child} & echo $!; exec sleep 100000`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void parent.kill());
    const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
    const stat = () =>
      readFileSync(`/proc/${Number(pid)}/stat`, 'utf8')
        .split(') ')
        .at(-1)
        ?.split(' ') ?? [];
    await expect.poll(() => stat()[0]).toBe('Z');
    mkdirSync(mirrorDir);
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    writeFileSync(path.join(mirrorDir, 'berth-lock'), `${Number(pid)} ${stat()[19] ?? ''} ${bootId}`);
    await (await open()).close();
  });

  it('a restart in the middle of a broken file: what vanished meanwhile stays', async () => {
    const source = () => openGitSource({ url: fixture.dir, mirrorDir, ambient: process.env, ref: MAIN });
    const before = await source();
    await before.fetch();
    expect((await before.read()).objects).toHaveLength(300);
    await before.close();
    fixture.commit({ 'f1.yaml': '[', 'f2.yaml': null });
    const after = await source();
    await after.fetch();
    const content = await after.read();
    expect(content.complete).toBe(false);
    expect(content.objects.map(({ object }) => object.metadata.name)).toEqual(
      expect.arrayContaining(['c1', 'c2']),
    );
    expect(content.objects).toHaveLength(300);
    await after.close();
  });
});
