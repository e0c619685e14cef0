import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HistoryReader } from '../../../src/adapters/store/history-store.ts';
import type { ServeOptions } from '../../../src/app/settings/serve-options.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { withoutGit } from '../../../packages/git-reader/test/fakes/without-git.ts';
import { type GitServer, serveHttp } from '../../../packages/git-reader/test/git-servers.ts';
import { baseFiles, placement, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const web = (clusters: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters: clusters })) });

describe('a data directory that vanishes while the controller runs', () => {
  let fleet: ServedFleet;
  let server: GitServer;
  let log: SilentLogger;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    server = await serveHttp(join(fleet.git.path, '.git'));
    log = new SilentLogger();
    fleet.git.commit({ ...baseFiles, ...web(2) });
  });
  afterEach(async () => {
    await fleet.close();
    await server.close();
  });

  const file = (...names: string[]) => join(fleet.dataDir, ...names);
  const decided = (clusters: number) =>
    expect.poll(async () => (await fleet.decisions('web')).length).toBe(clusters);
  // Again where the controller writes a file into it meanwhile.
  const remove = () => rmSync(fleet.dataDir, { recursive: true, force: true, maxRetries: 10 });
  const records = async () => (await new HistoryReader(file('history')).list()).length;
  const move = () => renameSync(fleet.dataDir, `${fleet.dataDir}-moved`);
  const removeMoved = () => rmSync(`${fleet.dataDir}-moved`, { recursive: true, force: true });

  it.each<[string, () => void, () => Partial<ServeOptions>]>([
    ['removed, with git', remove, () => ({ sources: [{ url: server.url }] })],
    ['removed, with git and a local path', remove, () => ({})],
    ['removed, without git', remove, () => ({ sources: [{ url: server.url }], env: withoutGit() })],
    ['removed, without git and with a local path', remove, () => ({ env: withoutGit() })],
    ['moved away', move, () => ({ sources: [{ url: server.url }] })],
  ])('is made again: %s', async (_how, vanish, options) => {
    await fleet.serve({ ...options(), log });
    await decided(2);
    await expect.poll(() => existsSync(file('publish-state.json'))).toBe(true);
    // A record that is late would be written into the new directory.
    await expect.poll(records).toBe(1);
    vanish();
    fleet.git.commit(web(4));
    await decided(4);
    fleet.git.commit(web(3));
    await decided(3);
    // Everything that the next start needs.
    for (const name of ['publish-state.json', 'commits.json', 'git/fleet/berth-followed'])
      await expect.poll(() => existsSync(file(name)), { message: name }).toBe(true);
    await expect.poll(records).toBe(2);
    // The owner's alone, as before.
    for (const name of ['', 'git', 'git/fleet', 'history', 'history/worlds'])
      expect({ name, mode: statSync(file(name)).mode & 0o777 }).toEqual({ name, mode: 0o700 });
    for (const name of ['publish-state.json', 'history/records.jsonl', 'git/fleet/berth-followed'])
      expect({ name, mode: statSync(file(name)).mode & 0o777 }).toEqual({ name, mode: 0o600 });
    const [record] = await new HistoryReader(file('history')).list();
    await fleet.stop();
    const replay = await fleet.berth('replay', record?.hash ?? '', '--data', fleet.dataDir);
    expect(replay.stdout + replay.stderr).toContain('same');
    expect(replay.code).toBe(0);

    // A restart is free.
    const published = JSON.parse(
      readFileSync(file('publish-state.json'), 'utf8').split('\n')[0] ?? '',
    ) as unknown;
    expect(JSON.stringify(published)).toContain('team-a/web');
    await fleet.serve({ ...options(), log });
    await fleet.event('ready');
    expect(fleet.events.filter(({ kind }) => kind === 'published' || kind === 'held')).toEqual([]);
    removeMoved();
  });

  it('is made again while nothing changes, with what is remembered of publications', async () => {
    await fleet.serve({ log });
    await decided(2);
    await expect.poll(() => existsSync(file('publish-state.json'))).toBe(true);
    remove();
    await expect.poll(() => existsSync(file('publish-state.json'))).toBe(true);
    await expect.poll(() => existsSync(file('git', 'fleet', 'berth-followed'))).toBe(true);
    expect(readFileSync(file('publish-state.json'), 'utf8')).toContain('team-a/web');
    expect(statSync(file('git')).isDirectory()).toBe(true);
  });

  it('while a file is broken: what the file declared stays, also after a restart', async () => {
    const options = { sources: [{ url: server.url }], log };
    await fleet.serve(options);
    await decided(2);
    fleet.git.commit({ 'web.yaml': '[' });
    await fleet.event('commit-read', ({ problems }) => problems.length > 0);
    remove();
    fleet.git.commit({ 'other.yaml': yaml(placement('other')) });
    await fleet.published('other');
    expect(await fleet.decisions('web')).toHaveLength(2);
    await fleet.stop();
    await fleet.serve(options);
    await fleet.event('ready');
    expect(await fleet.decisions('web')).toHaveLength(2);
  });
});
