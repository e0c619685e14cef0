import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { ObjectKey } from '@berth/kube/model/kube-api';
import type { SourceObject } from '@berth/kube/model/source-object';
import { SourceDeclarations } from '../../../../src/controllers/sources/progress/source-declarations.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { baseFiles, namespace, placement, retired, yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';
import { hubSyncFor } from './hub-sync-fixture.ts';
import { interceptedApi } from './intercepted-api.ts';

const settings = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
});

let fleet: ServedFleet;
beforeEach(async () => {
  fleet = await ServedFleet.create();
});
afterEach(() => fleet.close());

const uids = () =>
  Promise.all(
    ['a', 'b'].map(
      async (name) =>
        (await fleet.hub.api.get(CONFIG_MAP, { namespace: 'default', name }))?.metadata.uid ?? name,
    ),
  );
const synced = (source: string, seen = 0, atLeast = { applied: 0, pruned: 0 }) =>
  fleet.event(
    'synced',
    (event) => event.source === source && event.applied >= atLeast.applied && event.pruned >= atLeast.pruned,
    seen,
  );
const prunes = () => fleet.events.filter((event) => event.kind === 'synced' && event.pruned > 0);
const problems = (seen: number) => fleet.events.slice(seen).filter(({ kind }) => kind === 'sync-problem');

describe('objects that a commit moves from one source of its repository to another', () => {
  const serve = async () => {
    const { path: url } = fleet.git;
    await fleet.serve({
      sources: [
        { name: 'first', url, paths: ['first'] },
        { name: 'second', url, paths: ['second'] },
      ],
    });
    await Promise.all(['first', 'second'].map((source) => synced(source)));
  };

  it.each([
    ['first', 'second'],
    ['second', 'first'],
  ])('from %s to %s, are taken over as they are', async (from, to) => {
    const own = { 'first/own.yaml': yaml(settings('x')), 'second/own.yaml': yaml(settings('y')) };
    const moving = yaml(settings('a'), settings('b'));
    fleet.git.commit({ ...own, [`${from}/moving.yaml`]: moving });
    await serve();
    const before = await uids();
    const seen = fleet.events.length;
    fleet.git.commit({ [`${from}/moving.yaml`]: undefined, [`${to}/moving.yaml`]: moving });
    await synced(to, seen, { applied: 2, pruned: 0 });
    await synced(from, seen);
    expect(await uids()).toEqual(before);
    expect([prunes(), problems(seen)]).toEqual([[], []]);
  });

  it('are published once, by the complete commit', async () => {
    const base = Object.entries(baseFiles).map(([file, text]) => [`first/${file}`, text]);
    const web = (numberOfClusters: number) => yaml(placement('web', { numberOfClusters }));
    const second = { 'second/web.yaml': web(2), 'second/own.yaml': yaml(namespace('own')) };
    fleet.git.commit({ ...Object.fromEntries(base), ...second });
    await serve();
    await fleet.event('published', ({ clusters }) => clusters.length === 2);
    const seen = fleet.events.length;
    // One cluster becomes unusable for the placement as it was, too.
    const moved = { 'second/web.yaml': undefined, 'first/web.yaml': web(4) };
    fleet.git.commit({ ...moved, 'first/clusters.yaml': retired(1) });
    expect((await fleet.published('web', seen)).clusters).toHaveLength(4);
    expect(problems(seen)).toEqual([]);
    expect((await fleet.read('web')).spec?.numberOfClusters).toBe(4);
  });

  it('are a conflict if both sources declare them', async () => {
    fleet.git.commit({ 'first/own.yaml': yaml(settings('x')), 'second/a.yaml': yaml(settings('a')) });
    await serve();
    const seen = fleet.events.length;
    fleet.git.commit({ 'first/a.yaml': yaml(settings('a')) });
    const { message } = await fleet.event('sync-problem', ({ source }) => source === 'first', seen);
    expect(message).toContain('belongs to source second (second/a.yaml:1:1');
  });
});

describe('objects that move to another repository', () => {
  const serve = () =>
    fleet.serve({
      sources: [
        { name: 'first', url: fleet.git.path },
        { name: 'second', url: fleet.second.path },
      ],
    });
  beforeEach(() => {
    fleet.git.commit({ 'stays.yaml': yaml(settings('stays')), 'a.yaml': yaml(settings('a'), settings('b')) });
    fleet.second.commit({ 'own.yaml': yaml(settings('own')) });
  });

  it('are taken over as they are, if the other one declares them first', async () => {
    await serve();
    await Promise.all(['first', 'second'].map((source) => synced(source)));
    const before = await uids();
    fleet.second.commit({ 'moved.yaml': yaml(settings('a'), settings('b')) });
    await fleet.event('sync-problem', ({ source }) => source === 'second');
    const seen = fleet.events.length;
    fleet.git.commit({ 'a.yaml': undefined });
    await synced('second', seen, { applied: 2, pruned: 0 });
    expect(await uids()).toEqual(before);
    expect(prunes()).toEqual([]);
  });

  it('are taken over as they are, if they moved while the controller was down', async () => {
    await serve();
    await Promise.all(['first', 'second'].map((source) => synced(source)));
    const before = await uids();
    await fleet.stop();
    fleet.second.commit({ 'moved.yaml': yaml(settings('a'), settings('b')) });
    fleet.git.commit({ 'a.yaml': undefined });
    await serve();
    await synced('second', 0, { applied: 2, pruned: 0 });
    expect(await uids()).toEqual(before);
    expect(prunes()).toEqual([]);
  });

  it('are left alone when the other one takes them over while others are being deleted', async () => {
    const said = (...names: string[]): SourceObject[] =>
      names.map((name) => ({ object: settings(name), location: { file: 'f.yaml', line: 1, column: 1 } }));
    const declarations = new SourceDeclarations(
      new FakeClock(),
      ['first', 'second'].map((name) => ({ name, force: false })),
    );
    const secondDeclares = (...names: string[]): void =>
      declarations.declare('second', said(...names), () => false);
    const deletions: string[] = [];
    const api = interceptedApi(fleet.hub.api, (method, args) => {
      if (method !== 'delete') return;
      deletions.push((args[1] as ObjectKey).name);
      secondDeclares('a', 'b');
    });
    secondDeclares();
    const sync = hubSyncFor({ api, source: 'first', declarations, concurrency: 1 });
    await sync.sync({ objects: said('a', 'b', 'stays'), complete: true });
    const { pruned, problems: found } = await sync.sync({ objects: said('stays'), complete: true });
    expect([deletions.length, pruned, found]).toEqual([1, 1, []]);
    const [kept] = ['a', 'b'].filter((name) => name !== deletions[0]);
    expect(await uids()).toContainEqual(expect.stringContaining('-'));
    expect(await uids()).not.toContain(kept);
  });

  it('are deleted when the other repository cannot be read', async () => {
    await serve();
    await Promise.all(['first', 'second'].map((source) => synced(source)));
    fleet.second.remove();
    fleet.git.commit({ 'a.yaml': undefined });
    await synced('first', 0, { applied: 0, pruned: 2 });
  });
});
