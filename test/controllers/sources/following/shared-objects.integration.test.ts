import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunningController } from '../../../../src/app/serve/serve-controller.ts';
import { SourceDeclarations } from '../../../../src/controllers/sources/progress/source-declarations.ts';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';
import { hubSyncFor } from './hub-sync-fixture.ts';

const shared = (value: string, name = 'shared') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { value },
});
const declared = (object: KubeObject, file: string): SourceObject => ({
  object,
  location: { file, line: 1, column: 1 },
});

describe('an object of another controller on the same hub', () => {
  let fleet: ServedFleet;
  let otherData: string;
  let first: RunningController;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    otherData = mkdtempSync(join(tmpdir(), 'berth-other-'));
  });
  afterEach(async () => {
    await first.close();
    await fleet.close();
    rmSync(otherData, { recursive: true, force: true });
  });
  const HOUR_MS = 3_600_000;
  const valueOf = async (name: string) =>
    (await fleet.hub.api.get(CONFIG_MAP, { namespace: 'default', name }))?.['data'] as
      | { value: string }
      | undefined;
  /** Both have looked at the whole hub, and do not look at it again. */
  async function startBoth(force: boolean): Promise<void> {
    fleet.git.commit({ 'a.yaml': yaml(shared('a', 'own-a')) });
    fleet.second.commit({ 'b.yaml': yaml(shared('b', 'own-b')) });
    first = await fleet.serve({
      sources: [{ name: 'first', url: fleet.git.path }],
      resyncIntervalMs: HOUR_MS,
    });
    await fleet.event('synced');
    await fleet.serve({
      sources: [{ name: 'second', url: fleet.second.path, force }],
      dataDir: otherData,
      resyncIntervalMs: HOUR_MS,
    });
    await fleet.event('synced');
  }

  it('is left alone, and named as a conflict, when a commit brings it', async () => {
    await startBoth(false);
    fleet.git.commit({ 'shared.yaml': yaml(shared('of the first')) });
    await fleet.until(() => valueOf('shared'));
    fleet.second.commit({
      'shared.yaml': yaml(shared('of the second')),
      'b.yaml': yaml(shared('b2', 'own-b')),
    });
    const { object, message } = await fleet.event('sync-problem');
    expect(object).toBe('ConfigMap shared');
    expect(message).toMatch(/^belongs to source first/);
    expect(message).toContain('source second (shared.yaml:1:1)');
    expect(await valueOf('shared')).toEqual({ value: 'of the first' });
    // The rest of the commit is there.
    expect(await valueOf('own-b')).toEqual({ value: 'b2' });
    // When the first one gives it up, it is the second one's.
    fleet.git.commit({ 'shared.yaml': undefined });
    await fleet.until(async () => ((await valueOf('shared'))?.value === 'of the second' ? true : undefined));
  });

  it('is not taken back either, when it was this one’s before and the other one forced it', async () => {
    await startBoth(true);
    fleet.git.commit({ 'shared.yaml': yaml(shared('of the first')) });
    await fleet.until(() => valueOf('shared'));
    fleet.second.commit({ 'shared.yaml': yaml(shared('forced')) });
    await fleet.until(async () => ((await valueOf('shared'))?.value === 'forced' ? true : undefined));
    fleet.git.commit({
      'shared.yaml': yaml(shared('of the first again')),
      'a.yaml': yaml(shared('a2', 'own-a')),
    });
    await fleet.until(async () => ((await valueOf('own-a'))?.value === 'a2' ? true : undefined));
    await fleet.advance(300);
    expect(await valueOf('shared')).toEqual({ value: 'forced' });
  });
});

describe('an object that two sources hold in their very first sync', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(() => fleet.close());
  const valueNow = async () =>
    (
      (await fleet.hub.api.get(CONFIG_MAP, { namespace: 'default', name: 'shared' }))?.['data'] as
        | { value: string }
        | undefined
    )?.value;

  it.each([
    { name: 'the first of the settings', force: [false, false], winner: 'first', loser: 'second' },
    { name: 'the one that forces', force: [false, true], winner: 'second', loser: 'first' },
    { name: 'the first of two that force', force: [true, true], winner: 'first', loser: 'second' },
  ])('goes to $name, and the other one says where both are', async ({ force, winner, loser }) => {
    fleet.git.commit({ 'a.yaml': yaml(shared('first'), shared('x', 'own-a')) });
    fleet.second.commit({ 'b.yaml': yaml(shared('x', 'own-b'), shared('second')) });
    await fleet.serve({
      sources: [
        { name: 'first', url: fleet.git.path, force: force[0] },
        { name: 'second', url: fleet.second.path, force: force[1] },
      ],
      http: fleet.http(),
    });
    const place = { first: '(a.yaml:1:1)', second: '(b.yaml:8:1)' } as Record<string, string>;
    const problem = await fleet.event('sync-problem');
    expect(problem).toMatchObject({
      source: loser,
      object: 'ConfigMap shared',
      message: expect.stringContaining(
        `belongs to source ${winner} ${place[winner]} and is also declared in source ${loser} ${place[loser]}`,
      ) as string,
    });
    // In that sync: the loser never got as far as writing it, and everything else went on.
    const until = fleet.events.slice(0, fleet.events.indexOf(problem));
    const syncs = until.filter((event) => event.kind === 'synced' && event.source === loser);
    expect(syncs).toHaveLength(1);
    expect(await valueNow()).toBe(winner);
    for (const name of ['own-a', 'own-b'])
      await fleet.until(() => fleet.hub.api.get(CONFIG_MAP, { namespace: 'default', name }));
    // And it stays like this.
    await fleet.advance(300);
    expect(await valueNow()).toBe(winner);
    expect(fleet.events.filter(({ kind }) => kind === 'sync-problem')).toHaveLength(1);
    expect((await fleet.status()).stdout).toContain(
      `\n${loser}: ${place[loser]?.slice(1, -1)}: ConfigMap shared: belongs to source ${winner} ${place[winner]} and is also declared in`,
    );
  });

  it('is noticed as well when both add it later, between two full looks at the hub', async () => {
    fleet.git.commit({ 'a.yaml': yaml(shared('x', 'own-a')) });
    fleet.second.commit({ 'b.yaml': yaml(shared('x', 'own-b')) });
    await fleet.serve({
      sources: [
        { name: 'first', url: fleet.git.path },
        { name: 'second', url: fleet.second.path },
      ],
      resyncIntervalMs: 3_600_000,
    });
    await fleet.event('synced', ({ source }) => source === 'first');
    await fleet.event('synced', ({ source }) => source === 'second');
    fleet.second.commit({ 'b.yaml': yaml(shared('x', 'own-b'), shared('second')) });
    await fleet.until(async () => ((await valueNow()) === 'second' ? true : undefined));
    fleet.git.commit({ 'a.yaml': yaml(shared('x', 'own-a'), shared('first')) });
    expect(await fleet.event('sync-problem')).toMatchObject({
      source: 'first',
      message: expect.stringContaining('belongs to source second (b.yaml:8:1)') as string,
    });
    expect(await valueNow()).toBe('second');
  });

  it('goes to the other one when the first source cannot be read, and the first says so once it can', async () => {
    fleet.second.commit({ 'b.yaml': yaml(shared('second')) });
    const url = `${fleet.git.path}-later`;
    await fleet.serve({
      sources: [
        { name: 'first', url },
        { name: 'second', url: fleet.second.path },
      ],
    });
    await fleet.event('error', ({ where }) => where === 'source first');
    await fleet.until(async () => ((await valueNow()) === 'second' ? true : undefined));
    fleet.git.commit({ 'a.yaml': yaml(shared('first')) });
    fleet.git.run('clone', '-q', '--bare', '.', url);
    expect(await fleet.event('sync-problem', ({ source }) => source === 'first')).toMatchObject({
      message: expect.stringContaining('belongs to source second (b.yaml:1:1)') as string,
    });
    expect(await valueNow()).toBe('second');
  });

  it('waits for a source that is slow to be read, not for who is faster', async () => {
    const declarations = new SourceDeclarations(
      fleet.clock,
      ['first', 'second'].map((name) => ({ name, force: false })),
    );
    const syncOf = (source: string) => hubSyncFor({ api: fleet.hub.api, source, declarations });
    const input = (source: string) => ({
      objects: [declared(shared(source), `${source}.yaml`)],
      complete: true,
    });
    const fast = syncOf('second').sync(input('second'));
    await fleet.advance(200);
    expect(await valueNow()).toBeUndefined();
    const slow = await syncOf('first').sync(input('first'));
    expect(slow).toMatchObject({ applied: 1, problems: [] });
    expect(await fast).toMatchObject({
      applied: 0,
      problems: [{ retry: true, location: 'second.yaml:1:1' }],
    });
    expect(await valueNow()).toBe('first');
  });
});

describe('SourceDeclarations', () => {
  const sources = [
    { name: 'a', force: false },
    { name: 'b', force: false },
  ];

  it('waits for the others until they were read, failed, took too long, or the controller stops', async () => {
    const clock = new FakeClock();
    const waits = async (
      end: (declarations: SourceDeclarations, stop: AbortController) => unknown,
    ): Promise<void> => {
      const declarations = new SourceDeclarations(clock, sources);
      const stop = new AbortController();
      declarations.declare('a', [], () => false);
      let over = false;
      const waiting = declarations.whenRead(stop.signal).then(() => (over = true));
      await clock.advance(29_000);
      expect(over).toBe(false);
      await end(declarations, stop);
      await waiting;
    };
    await waits((declarations) => declarations.declare('b', [], () => false));
    await waits((declarations) => declarations.handle({ kind: 'failed', source: 'b' }));
    await waits(() => clock.advance(1_001));
    await waits((_declarations, stop) => stop.abort());
    const alone = new SourceDeclarations(clock, sources.slice(0, 1));
    alone.declare('a', [], () => false);
    expect(alone.isWaiting).toBe(false);
    await alone.whenRead(undefined);
  });

  it('knows an object under every name it may have on the hub, until the source gives it up', () => {
    const declarations = new SourceDeclarations(new FakeClock(), sources);
    const id = JSON.stringify(['', 'ConfigMap', 'default', 'shared']);
    declarations.declare('a', [declared(shared('x'), 'a.yaml')], () => false);
    expect(declarations.precedingSource(id, 'b')).toBe('a');
    expect(declarations.precedingSource(id, 'a')).toBeUndefined();
    expect(declarations.ownerOf(id, 'b')).toBeUndefined();
    expect(declarations.locationOf('a', id)).toBe('a.yaml:1:1');
    declarations.declare('a', [], (identity) => identity === id);
    expect(declarations.precedingSource(id, 'b')).toBeUndefined();
    expect(declarations.ownerOf(id, 'b')).toBe('a');
    expect(declarations.locationOf('a', id)).toBeUndefined();
  });
});
