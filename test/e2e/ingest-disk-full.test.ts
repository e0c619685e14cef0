import { randomBytes } from 'node:crypto';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openGitSource } from '../../src/controllers/sources/reading/git-source.ts';
import { ParsedCache } from '../../src/controllers/sources/parsing/parsed-cache.ts';
import { GitFixture } from '../../packages/git-reader/test/git-fixture.ts';
import { isAvailable } from '@berth/test-kit/needed-program';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
/** Mounting needs root, and a kernel that lets it. */
function canMount(): boolean {
  const dir = mkdtempSync(path.join(tmpdir(), 'berth-mount-'));
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', dir]).status === 0;
  if (isMounted) execFileSync('umount', [dir]);
  rmSync(dir, { recursive: true });
  return isAvailable('mount', isMounted ? undefined : 'this user may not mount a small file system');
}

describe.runIf(canMount())('on a full disk', () => {
  let fixture: GitFixture;
  let disk: string;
  const close: (() => Promise<void>)[] = [];
  beforeEach(() => {
    fixture = new GitFixture();
    fixture.commit(
      Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}.yaml`, configMap(`c${i}`)])),
    );
    disk = mkdtempSync(path.join(tmpdir(), 'berth-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', disk]);
    mkdirSync(path.join(disk, 'parsed'));
  });
  afterEach(async () => {
    for (const one of close.splice(0)) await one();
    execFileSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true, force: true });
    fixture.remove();
  });
  const open = async (log = new SilentLogger()) => {
    const cache = new ParsedCache({ dir: path.join(disk, 'parsed'), log });
    const source = await openGitSource({
      url: fixture.dir,
      mirrorDir: path.join(disk, 'm.git'),
      ambient: process.env,
      ref: { type: 'branch', name: 'main' },
      cache,
    });
    close.push(() => source.close());
    return source;
  };
  const fill = () => {
    for (let at = 0, kilobytes = 512; kilobytes >= 1; at++)
      try {
        writeFileSync(path.join(disk, `ballast-${at}`), Buffer.alloc(kilobytes * 1024, 1));
      } catch {
        kilobytes = Math.floor(kilobytes / 2);
      }
  };
  const drain = () => execFileSync('sh', ['-c', `rm -f ${disk}/ballast-*`]);

  it('a fetch fails and says why, the last commit stays readable, and with space it goes on', async () => {
    const source = await open();
    const { commit } = await source.fetch();
    expect((await source.read()).objects).toHaveLength(100);
    const next = fixture.commit({
      'noise.bin': randomBytes(4 * 1024 * 1024),
      'f1.yaml': configMap('changed'),
    });
    await expect(source.fetch()).rejects.toMatchObject({ name: 'TransientError', code: 'git.disk-full' });
    expect((await source.read(commit)).objects).toHaveLength(100);
    execFileSync('mount', ['-o', 'remount,size=16m', disk]);
    expect((await source.fetch()).commit).toBe(next);
    expect((await source.read()).objects.map(({ object }) => object.metadata.name)).toContain('changed');
  });

  it('the cache is done without: what is read is the same, and a warning tells', async () => {
    const log = new SilentLogger();
    const source = await open(log);
    await source.fetch();
    fill();
    expect((await source.read()).objects).toHaveLength(100);
    for (const one of close.splice(0)) await one();
    expect(log.entries.map(({ message }) => message)).toContain(
      'the cache was not written; it will be filled again later',
    );
    drain();
    const again = await open();
    expect((await again.read()).objects).toHaveLength(100);
  });

  it('a mirror cannot be opened without space, which is an error, and can with it', async () => {
    fill();
    await expect(open()).rejects.toMatchObject({ code: expect.stringMatching(/ENOSPC|git\./) as string });
    drain();
    const source = await open();
    await source.fetch();
    expect((await source.read()).objects).toHaveLength(100);
  });
});
