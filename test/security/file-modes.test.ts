import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { openMirror } from '@berth/git-reader/open-mirror';
import { JsonFileMap } from '../../src/adapters/store/json-file.ts';
import { EntryCache } from '../../src/adapters/store/entry-cache.ts';
import { backupData, restoreData } from '@berth/embedded-hub/maintenance/backup-file';
import { revokeUser } from '@berth/embedded-hub/maintenance/revoke-credentials';
import { writePrivateFile } from '../../packages/embedded-hub/src/auth/files/private-file.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { serveHttp } from '../../packages/git-reader/test/git-servers.ts';
import { baseFiles, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../app/serve/served-fleet.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { withoutGit } from '../../packages/git-reader/test/fakes/without-git.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';

const TIGHTENED = 'other users of this machine could read data; Berth removed their rights';

/** Paths below a folder, and itself, that anybody but the owner may use: `path 644`. */
function open(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(folder, name),
  );
  return [folder, ...entries].flatMap((path) => {
    const stat = lstatSync(path);
    const others = stat.isSymbolicLink() ? 0 : stat.mode & 0o077;
    return others === 0 ? [] : [`${path} ${(stat.mode & 0o777).toString(8)}`];
  });
}

describe('another user of the machine reads what is kept on disk', () => {
  let umask: number;
  let dir: string;
  beforeEach(() => {
    // Nothing may depend on the umask: a service manager may well set none.
    umask = process.umask(0);
    dir = mkdtempSync(join(tmpdir(), 'berth-modes-'));
  });
  afterEach(() => {
    process.umask(umask);
    rmSync(dir, { recursive: true, force: true });
  });

  describe('of berth serve', () => {
    let fleet: ServedFleet;
    beforeEach(async () => {
      fleet = await ServedFleet.create();
      fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) });
    });
    afterEach(() => fleet.close());

    const run = async (log = new SilentLogger()): Promise<SilentLogger> => {
      const controller = await fleet.serve({ log });
      await controller.whenReady();
      await fleet.until(async () => ((await fleet.decisions('web')).length > 0 ? true : undefined));
      await fleet.stop();
      return log;
    };
    const tightenings = (log: SilentLogger) => log.entries.filter(({ message }) => message === TIGHTENED);

    it('mirrors, caches, state and history are the owner’s alone', async () => {
      const dataDir = join(fleet.dataDir, 'new', 'data');
      const controller = await fleet.serve({ dataDir });
      await controller.whenReady();
      await fleet.until(async () => ((await fleet.decisions('web')).length > 0 ? true : undefined));
      expect(open(dataDir)).toEqual([]);
      await fleet.stop();
      expect(open(join(fleet.dataDir, 'new'))).toEqual([]);
      expect(readdirSync(dataDir).sort()).toEqual(
        expect.arrayContaining(['git', 'history', 'parsed', 'publish-state.json']),
      );
    });

    it('a directory of an older version is corrected at the start, which is logged once', async () => {
      await run();
      for (const path of ['.', ...readdirSync(fleet.dataDir, { recursive: true, encoding: 'utf8' })]) {
        const whole = join(fleet.dataDir, path);
        chmodSync(whole, lstatSync(whole).isDirectory() ? 0o755 : 0o644);
      }
      const log = await run();
      expect(open(fleet.dataDir)).toEqual([]);
      expect(tightenings(log)).toHaveLength(1);
      expect(tightenings(await run())).toEqual([]);
    });

    it('what is not Berth’s own in the data directory keeps its modes, and no link is followed', async () => {
      chmodSync(fleet.dataDir, 0o755);
      const [script, linked] = [join(fleet.dataDir, 'script.sh'), join(dir, 'elsewhere')];
      writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
      writeFileSync(linked, 'x', { mode: 0o644 });
      mkdirSync(join(fleet.dataDir, 'parsed'));
      symlinkSync(linked, join(fleet.dataDir, 'parsed', 'link'));
      await run();
      expect((lstatSync(script).mode & 0o777).toString(8)).toBe('755');
      expect((lstatSync(linked).mode & 0o777).toString(8)).toBe('644');
      expect((lstatSync(fleet.dataDir).mode & 0o777).toString(8)).toBe('700');
    });

    it('a directory that is shared with other folders is not closed to them, and that is said', async () => {
      chmodSync(fleet.dataDir, 0o755);
      mkdirSync(join(fleet.dataDir, 'somebody-else'));
      const log = await run();
      expect((lstatSync(fleet.dataDir).mode & 0o777).toString(8)).toBe('755');
      expect(log.entries).toContainEqual(
        expect.objectContaining({
          level: 'warn',
          message: 'the data directory is shared with other folders, and other users may list it',
        }),
      );
      expect(open(join(fleet.dataDir, 'git'))).toEqual([]);
      expect(open(join(fleet.dataDir, 'history'))).toEqual([]);
    });
  });

  describe('in Git', () => {
    it.each([
      ['the git program', process.env],
      ['no git program', withoutGit()],
    ])('the mirror of a private repository, made by %s', async (_name, ambient) => {
      const git = new GitFixture();
      git.commit({ 'a.yaml': 'a: b\n' });
      const server = await serveHttp(join(git.path, '.git'));
      try {
        const mirrorDir = join(dir, 'git', 'fleet');
        const options = { url: server.url, mirrorDir, ambient };
        const { repository: mirror } = await openMirror(options, false);
        const commit = await mirror.fetch({ type: 'head' });
        await mirror.pin('complete-fleet', commit);
        expect(open(dir)).toEqual([]);
        await mirror.close();
        expect(open(dir)).toEqual([]);
        expect(existsSync(join(mirrorDir, 'objects'))).toBe(true);
      } finally {
        await server.close();
        git.remove();
      }
    });
  });

  it('files of state and caches', async () => {
    const folder = join(dir, 'state');
    const map = new JsonFileMap<string>(join(folder, 'map.json'), systemClock, new SilentLogger());
    await map.persist('a', 'b');
    map.set('c', 'd');
    await map.close();
    const cache = new EntryCache({ dir: join(dir, 'cache'), stamp: 'x', log: new SilentLogger() });
    cache.add([{ key: 'a', bytes: Buffer.from('b') }], () => true);
    await cache.flush();
    expect(open(dir)).toEqual([]);
    expect(readdirSync(folder).length + readdirSync(join(dir, 'cache')).length).toBeGreaterThan(1);
  });

  describe('of berth hub', () => {
    it('data, tokens, revocations, audit log, backups and what is restored', async () => {
      const dataDir = join(dir, 'hub');
      const hub = await startTestHub({ dataDir, audit: 'all', members: ['m1'] });
      revokeUser(dataDir, 'alice', Date.now());
      await hub.call('GET', '/api/v1/namespaces');
      await backupData(dataDir, join(dir, 'backup'), Date.now());
      expect(open(dir)).toEqual([]);
      await restoreData(join(dir, 'backup'), join(dir, 'restored'), Date.now());
      expect(open(dir)).toEqual([]);
      expect(readdirSync(join(dir, 'restored'))).toContain('revocations.json');
      await hub.stop();
    });

    it('a data directory that was there before, open to everybody', async () => {
      const dataDir = join(dir, 'hub');
      mkdirSync(dataDir, { mode: 0o755 });
      writeFileSync(join(dataDir, 'audit.log'), '', { mode: 0o644 });
      const log = new SilentLogger();
      const hub = await startTestHub({ dataDir, audit: 'all', log });
      expect(open(dataDir)).toEqual([]);
      expect(log.entries.filter(({ message }) => message === TIGHTENED)).toHaveLength(1);
      await hub.stop();
    });

    it('a secret that is written where somebody else put a file, or a link, in its way', () => {
      const [target, stolen] = [join(dir, 'backup'), join(dir, 'stolen')];
      writeFileSync(stolen, '', { mode: 0o666 });
      symlinkSync(stolen, `${target}.new`);
      writePrivateFile(target, 'secret');
      expect(readFileSync(stolen, 'utf8')).toBe('');
      writeFileSync(`${target}.new`, '', { mode: 0o666 });
      writePrivateFile(target, 'secret');
      expect(open(target.replace(/backup$/, '')).filter((path) => path.includes('backup'))).toEqual([]);
      expect(readFileSync(target, 'utf8')).toBe('secret');
    });
  });
});
