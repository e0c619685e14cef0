import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { ObjectKey } from '@berth/kube/model/kube-api';
import type { SourceObject } from '@berth/kube/model/source-object';
import { SourceClaims, FreshFetches } from '../../../../src/controllers/sources/progress/source-claims.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { baseFiles, namespace, placement, retired, yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';
import { hubSyncFor } from './hub-sync-fixture.ts';
import { interceptedApi } from './intercepted-api.ts';

describe('objects that move to a source which has not looked at its remote since', () => {
  let fleet: ServedFleet;
  /** Fetches of the second source wait for this. */
  let gate: Promise<void>;
  let open: () => void;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    [gate, open] = [Promise.resolve(), () => undefined];
    fleet.git.commit({ 'stays.yaml': yaml(settings('stays')), 'a.yaml': yaml(settings('a'), settings('b')) });
    fleet.second.commit({ 'own.yaml': yaml(settings('own')) });
  });
  afterEach(() => {
    open();
    return fleet.close();
  });

  const settings = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
  });
  const serve = () =>
    fleet.serve({
      sources: [
        { name: 'first', url: fleet.git.path },
        {
          name: 'second',
          url: fleet.second.path,
          auth: { type: 'provider', get: () => gate.then(() => ({ type: 'none' })) },
        },
      ],
    });
  const ofBoth = (fits: (source: string) => Promise<unknown>) => Promise.all(['first', 'second'].map(fits));
  const uids = () =>
    Promise.all(
      ['a', 'b'].map(
        async (name) =>
          (await fleet.hub.api.get(CONFIG_MAP, { namespace: 'default', name }))?.metadata.uid ?? name,
      ),
    );
  const move = (): void => {
    fleet.second.commit({ 'moved.yaml': yaml(settings('a'), settings('b')) });
    fleet.git.commit({ 'a.yaml': undefined });
  };
  const takenOver = (seen: number) =>
    fleet.event('synced', ({ source, applied }) => source === 'second' && applied === 2, seen);
  const prunes = () => fleet.events.filter((event) => event.kind === 'synced' && event.pruned > 0);
  const shut = (): void => {
    gate = new Promise((resolve) => (open = resolve));
  };
  const looksAgain = async (source: string, seen: number): Promise<void> => {
    await fleet.event('synced', (event) => event.source === source, seen);
  };

  it('wait for it, and are taken over as they are', async () => {
    await serve();
    await ofBoth((source) => fleet.event('synced', (event) => event.source === source));
    const before = await uids();
    shut();
    const seen = fleet.events.length;
    move();
    await looksAgain('first', seen);
    await looksAgain('first', fleet.events.length);
    expect(await uids()).toEqual(before);
    open();
    await takenOver(seen);
    expect(await uids()).toEqual(before);
    expect(prunes()).toEqual([]);
  });

  it('wait for it as well when all that happened while the controller was down', async () => {
    await serve();
    await ofBoth((source) => fleet.event('synced', (event) => event.source === source));
    const before = await uids();
    await fleet.stop();
    move();
    shut();
    await serve();
    await looksAgain('first', 0);
    await looksAgain('first', fleet.events.length);
    open();
    await takenOver(0);
    expect(await uids()).toEqual(before);
    expect(prunes()).toEqual([]);
  });

  it('are deleted when it has looked and has them not, also when both sources wait for each other', async () => {
    fleet.second.commit({ 'more.yaml': yaml(settings('c')) });
    await serve();
    await ofBoth((source) => fleet.event('synced', (event) => event.source === source));
    shut();
    fleet.second.commit({ 'more.yaml': undefined });
    fleet.git.commit({ 'a.yaml': undefined });
    await looksAgain('first', fleet.events.length);
    expect(prunes()).toEqual([]);
    open();
    await ofBoth((source) => fleet.event('synced', (event) => event.source === source && event.pruned > 0));
    expect(await uids()).toEqual(['a', 'b']);
  });

  it('are left alone when it takes them over while others are being deleted', async () => {
    const said = (...names: string[]): SourceObject[] =>
      names.map((name) => ({ object: settings(name), location: { file: 'f.yaml', line: 1, column: 1 } }));
    const claims = new SourceClaims(
      new FakeClock(),
      ['first', 'second'].map((name) => ({ name, force: false })),
    );
    const look = (...names: string[]): void => {
      claims.fetches.begins('second');
      claims.claim('second', said(...names), () => false);
    };
    const deletions: string[] = [];
    const api = interceptedApi(fleet.hub.api, (method, args) => {
      if (method !== 'delete') return;
      deletions.push((args[1] as ObjectKey).name);
      look('a', 'b');
    });
    look();
    const sync = hubSyncFor({ api, source: 'first', claims, concurrency: 1 });
    await sync.sync({ objects: said('a', 'b', 'stays'), complete: true });
    expect(await sync.sync({ objects: said('stays'), complete: true })).toMatchObject({ waits: true });
    look();
    const { pruned, problems } = await sync.sync({ objects: said('stays'), complete: true });
    expect([deletions.length, pruned, problems]).toEqual([1, 1, []]);
    const [kept] = ['a', 'b'].filter((name) => name !== deletions[0]);
    expect(await uids()).toContainEqual(expect.stringContaining('-'));
    expect(await uids()).not.toContain(kept);
  });

  it('wait for it when a release comes with the transfer, though it had fetched while they were held', async () => {
    const said = (names: readonly string[], code?: string): SourceObject[] =>
      names.map((name) => ({
        object: {
          ...settings(name),
          metadata: {
            ...settings(name).metadata,
            ...(code === undefined ? {} : { annotations: { 'berth.dev/release': code } }),
          },
        },
        location: { file: 'f.yaml', line: 1, column: 1 },
      }));
    const claims = new SourceClaims(
      new FakeClock(),
      ['first', 'second'].map((name) => ({ name, force: false })),
    );
    const look = (...names: string[]): void => {
      claims.fetches.begins('second');
      claims.claim('second', said(names), () => false);
    };
    look();
    const sync = hubSyncFor({ api: fleet.hub.api, source: 'first', claims });
    const ada = { name: 'Ada', email: 'ada@example.org', timeMs: 0 };
    const follow = (commit: number, objects: SourceObject[]) =>
      sync.sync({
        objects,
        complete: true,
        commit: {
          id: `c${commit}`,
          tree: 't',
          parents: [],
          author: ada,
          committer: ada,
          subject: '',
          signed: false,
        },
      });
    await follow(1, said(['a', 'b', 'c', 'stays']));
    await follow(2, said(['stays']));
    look();
    const { pruneHeld } = await follow(2, said(['stays']));
    const code = pruneHeld?.token ?? '';
    // This commit releases the deletion of all three, and moves one of them.
    const third = said(['stays'], code);
    expect(await follow(3, third)).toMatchObject({ pruned: 0, waits: true });
    look('a');
    expect(await follow(3, third)).toMatchObject({ pruned: 0, waits: true });
    look('a');
    expect(await follow(3, third)).toMatchObject({ pruned: 2, pruneHeld: undefined });
    expect(await uids()).toEqual([expect.stringContaining('-'), 'b']);
  });

  it('are deleted when it cannot be read', async () => {
    await serve();
    await ofBoth((source) => fleet.event('synced', (event) => event.source === source));
    fleet.second.remove();
    fleet.git.commit({ 'a.yaml': undefined });
    await fleet.event('synced', ({ source, pruned }) => source === 'first' && pruned === 2);
  });
});

/** The source that gets an object reads the commit first, and the one that has it may read it late. */
describe('an object that a commit moves to a source which reads it first', () => {
  let fleet: ServedFleet;
  let gate: Promise<void> = Promise.resolve();
  let open: () => void = () => undefined;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(() => {
    open();
    return fleet.close();
  });
  const web = (numberOfClusters: number) => yaml(placement('web', { numberOfClusters }));
  const begin = async (): Promise<number> => {
    const base = Object.entries(baseFiles).map(([file, text]) => [`first/${file}`, text]);
    const second = { 'second/web.yaml': web(2), 'second/own.yaml': yaml(namespace('own')) };
    fleet.git.commit({ ...Object.fromEntries(base), ...second });
    const { path: url } = fleet.git;
    await fleet.serve({
      sources: [
        { name: 'first', url, paths: ['first'] },
        {
          name: 'second',
          url,
          paths: ['second'],
          auth: { type: 'provider', get: () => gate.then(() => ({ type: 'none' })) },
        },
      ],
    });
    await fleet.event('published', ({ clusters }) => clusters.length === 2);
    gate = new Promise((resolve) => (open = resolve));
    return fleet.events.length;
  };
  const problems = (seen: number) => fleet.events.slice(seen).filter(({ kind }) => kind === 'sync-problem');

  it('is no conflict, and nothing is published before the commit is complete', async () => {
    const seen = await begin();
    // One cluster becomes unusable for the placement as it was, too.
    const moved = { 'second/web.yaml': undefined, 'first/web.yaml': web(4) };
    fleet.git.commit({ ...moved, 'first/clusters.yaml': retired(1) });
    await fleet.event('synced', ({ source, applied }) => source === 'first' && applied > 0, seen);
    await fleet.advance(2_500);
    expect(fleet.events.slice(seen).some(({ kind }) => kind === 'published')).toBe(false);
    open();
    expect((await fleet.published('web', seen)).clusters).toHaveLength(4);
    expect(problems(seen)).toEqual([]);
    expect((await fleet.read('web')).spec?.numberOfClusters).toBe(4);
  });

  it('is a conflict if both declare it in the end', async () => {
    const seen = await begin();
    fleet.git.commit({ 'first/web.yaml': web(4) });
    await fleet.event('commit-read', ({ source }) => source === 'first', seen);
    await fleet.advance(300);
    expect(problems(seen)).toEqual([]);
    open();
    const { message } = await fleet.event('sync-problem', ({ source }) => source === 'first', seen);
    expect(message).toContain('belongs to source second (second/web.yaml:1:1');
  });
});

describe('FreshFetches', () => {
  const asking = () => {
    const clock = new FakeClock();
    const fetches = new FreshFetches(clock, ['a', 'b', 'c']);
    const woken: string[] = [];
    fetches.onWanted((source) => void woken.push(source));
    return { clock, fetches, woken };
  };
  const look = (fetches: FreshFetches, source: string): void => {
    fetches.begins(source);
    fetches.ends(source);
  };

  it('counts what began after the question, of every other source', () => {
    const { fetches, woken } = asking();
    look(fetches, 'b');
    fetches.begins('c');
    expect(fetches.areFresh('a', 'x')).toBe(false);
    fetches.ends('c');
    look(fetches, 'b');
    expect(fetches.areFresh('a', 'x')).toBe(false);
    look(fetches, 'c');
    expect(fetches.areFresh('a', 'x')).toBe(true);
    expect(woken).toEqual(['b', 'c', 'a']);
    look(fetches, 'c');
    expect(woken).toHaveLength(3);
  });

  it('asks again about other deletions, and about the same ones when there were none in between', () => {
    const { fetches, woken } = asking();
    for (const about of ['x', 'y', '', 'y']) {
      expect(fetches.areFresh('a', about)).toBe(about === '');
      look(fetches, 'b');
      look(fetches, 'c');
      expect(fetches.areFresh('a', about)).toBe(true);
    }
    expect(woken).toEqual(['x', 'y', 'y again'].flatMap(() => ['b', 'c', 'a']));
  });

  it('waits half a minute at most, and not at all where nobody else is', async () => {
    const { clock, fetches } = asking();
    expect(fetches.areFresh('a', 'x')).toBe(false);
    await clock.advance(29_999);
    expect(fetches.areFresh('a', 'x')).toBe(false);
    await clock.advance(1);
    expect(fetches.areFresh('a', 'x')).toBe(true);
    expect(new FreshFetches(clock, ['a']).areFresh('a', 'x')).toBe(true);
  });
});
