import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  appendFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HistoryStore, HistoryReader } from '../../../src/adapters/store/history-store.ts';
import { JsonFileMap } from '../../../src/adapters/store/json-file.ts';
import { digestSnapshot, snapshotObjectKey } from '../../../src/adapters/store/snapshot-digest.ts';
import { movePlacementsFirst } from '@berth/placement/snapshot/move-placements-first';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { decisionRecord } from '../../fakes/decision-record.ts';

const snapshotOf = (version: number): Snapshot => ({
  now: '2026-01-01T00:00:00Z',
  placements: [],
  clusters: Array.from({ length: 40 }, (_, i) => ({
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster' as const,
    metadata: {
      name: `c${String(i).padStart(2, '0')}`,
      labels: { version: i === 7 ? String(version) : '0' },
    },
  })),
  clusterSets: [],
  bindings: [],
  decisions: [],
  scores: [],
});
const recordOf = (hash: string, inputs: string) => decisionRecord({ hash, inputs, placement: 'a/web' });

describe('history on disk', () => {
  let dir: string;
  let log: SilentLogger;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-history-'));
    log = new SilentLogger();
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('gives back the very snapshot, and keeps unchanged pieces once', async () => {
    const store = new HistoryStore({ dir, maxRecords: 100, log });
    const snapshots = [0, 1, 2].map(snapshotOf);
    snapshots.forEach((snapshot, i) =>
      store.append(recordOf(`r${i}`, digestSnapshot(snapshot).hash), digestSnapshot(snapshot)),
    );
    await store.flush();
    const reader = new HistoryReader(dir);
    const records = await reader.list();
    expect(records.map(({ hash }) => hash)).toEqual(['r0', 'r1', 'r2']);
    for (const [i, { inputs }] of records.entries())
      expect(await reader.readSnapshot(inputs)).toEqual(snapshots[i]);
    // 6 lists in at most 16 pieces; empty ones are all the same, each change adds one.
    expect(readdirSync(join(dir, 'pieces')).length).toBeLessThanOrEqual(16 + 1 + 2);
  });

  it('gives back placements that were scheduled before the others as such, in the same pieces', async () => {
    const placements = Array.from({ length: 40 }, (_, i) => ({
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'Placement' as const,
      metadata: { namespace: `team-${i % 3}`, name: `p${i}` },
    })).sort((a, b) => (snapshotObjectKey(a) < snapshotObjectKey(b) ? -1 : 1));
    const snapshot = { ...snapshotOf(0), placements };
    const ahead = new Set(['team-1/p7', 'team-2/p5', 'team-1/p10']);
    const snapshots = [snapshot, { ...snapshot, placements: movePlacementsFirst(placements, ahead) }];
    const digests = snapshots.map(digestSnapshot);
    expect(digests[1]?.first).toEqual(['team-1/p10', 'team-1/p7', 'team-2/p5']);
    expect(digests[1]?.pieces).toEqual(digests[0]?.pieces);
    expect(digests[1]?.hash).not.toBe(digests[0]?.hash);
    const store = new HistoryStore({ dir, maxRecords: 8, log });
    for (const digest of digests) store.append(recordOf(digest.hash, digest.hash), digest);
    await store.flush();
    const reader = new HistoryReader(dir);
    for (const [i, { hash }] of digests.entries())
      expect(await reader.readSnapshot(hash)).toEqual(snapshots[i]);
  });

  it('gives back what was held, and tells such a snapshot from one in which nothing was', async () => {
    const held = { 'team-1/web': ['c2', 'c1'], 'team-0/api': [] };
    const snapshots = [snapshotOf(0), { ...snapshotOf(0), held }];
    const store = new HistoryStore({ dir, maxRecords: 8, log });
    for (const digest of snapshots.map(digestSnapshot))
      store.append(recordOf(digest.hash, digest.hash), digest);
    await store.flush();
    const hashes = snapshots.map((snapshot) => digestSnapshot(snapshot).hash);
    expect(new Set(hashes).size).toBe(2);
    for (const [i, hash] of hashes.entries())
      expect(await new HistoryReader(dir).readSnapshot(hash)).toEqual(snapshots[i]);
  });

  it('is bounded: old records go with what only they needed', async () => {
    const store = new HistoryStore({ dir, maxRecords: 8, log });
    for (let i = 0; i < 30; i++) {
      const digest = digestSnapshot(snapshotOf(i));
      store.append(recordOf(`r${i}`, digest.hash), digest);
      await store.flush();
    }
    const reader = new HistoryReader(dir);
    const records = await reader.list();
    expect(records.length).toBeLessThanOrEqual(10);
    expect(records.at(-1)?.hash).toBe('r29');
    for (const { inputs } of records) await reader.readSnapshot(inputs);
    expect(readdirSync(join(dir, 'worlds')).length).toBeLessThanOrEqual(10);
    expect(readdirSync(join(dir, 'pieces')).length).toBeLessThan(40);
  });

  it('a line cut by a crash is left out; a lost piece is named', async () => {
    const store = new HistoryStore({ dir, maxRecords: 8, log });
    const digest = digestSnapshot(snapshotOf(1));
    store.append(recordOf('r1', digest.hash), digest);
    await store.flush();
    appendFileSync(join(dir, 'records.jsonl'), '{"hash":"r2","plac');
    const reader = new HistoryReader(dir);
    expect((await reader.list()).map(({ hash }) => hash)).toEqual(['r1']);
    const again = new HistoryStore({ dir, maxRecords: 8, log });
    again.append(recordOf('r3', digest.hash), digest);
    await again.flush();
    expect((await reader.list()).map(({ hash }) => hash)).toEqual(['r1', 'r3']);
    rmSync(join(dir, 'pieces'), { recursive: true });
    await expect(reader.readSnapshot(digest.hash)).rejects.toMatchObject({ code: 'history.inputs' });
  });

  it('records that cannot be read are an error, not an empty history', async () => {
    mkdirSync(join(dir, 'records.jsonl'));
    await expect(new HistoryReader(dir).list()).rejects.toMatchObject({ code: 'history.records' });
    expect(await new HistoryReader(join(dir, 'nowhere')).list()).toEqual([]);
  });

  it('a disk that takes nothing costs history, not the controller', async () => {
    const store = new HistoryStore({ dir, maxRecords: 8, log });
    rmSync(dir, { recursive: true });
    writeFileSync(dir, 'in the way');
    const digest = digestSnapshot(snapshotOf(1));
    store.append(recordOf('r1', digest.hash), digest);
    await store.flush();
    expect(log.entries).toMatchObject([{ level: 'error', message: 'history was not written' }]);
  });
});

describe('JsonFileMap', () => {
  let dir: string;
  beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'berth-state-'))));
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('keeps values over a restart, `__proto__` among them', async () => {
    const clock = new FakeClock();
    const file = join(dir, 'state.json');
    const map = new JsonFileMap<number>(file, clock, new SilentLogger());
    map.set('__proto__', 1);
    map.set('a', 2);
    map.delete('a');
    await map.close();
    const again = new JsonFileMap<number>(file, clock, new SilentLogger());
    expect([again.get('__proto__'), again.get('a'), again.get('constructor')]).toEqual([
      1,
      undefined,
      undefined,
    ]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('writes what changed since the last write, and all else again', async () => {
    const clock = new FakeClock();
    const file = join(dir, 'state.json');
    const map = new JsonFileMap<number>(file, clock, new SilentLogger());
    const written = (): string => readFileSync(file, 'utf8').split('\n')[0] ?? '';
    for (const key of ['a', 'b', 'c']) map.set(key, 1);
    await map.close();
    expect(written()).toBe('[["a",1],["b",1],["c",1]]');
    map.set('b', 2);
    map.delete('a');
    await map.close();
    expect(written()).toBe('[["b",2],["c",1]]');
    map.set('a', 3);
    await map.persist('c', 4);
    await map.close();
    expect(written()).toBe('[["b",2],["c",4],["a",3]]');
  });

  it('reads a file of before there were generations', () => {
    const file = join(dir, 'state.json');
    writeFileSync(file, '[["a",1]]');
    expect(new JsonFileMap<number>(file, new FakeClock(), new SilentLogger()).get('a')).toBe(1);
  });

  it('tells each caller that waits that the disk took nothing, and keeps the value for later', async () => {
    const clock = new FakeClock();
    const log = new SilentLogger();
    const file = join(dir, 'state.json');
    const map = new JsonFileMap<number>(file, clock, log);
    mkdirSync(`${file}.journal`);
    await expect(map.persist('a', 1)).rejects.toMatchObject({ code: expect.stringMatching(/^E/) as string });
    expect(map.get('a')).toBe(1);
    await map.close();
    expect(new JsonFileMap<number>(file, clock, log).get('a')).toBe(1);
  });

  it('reads a file and appended entries of before there were digests and names', () => {
    const file = join(dir, 'state.json');
    writeFileSync(file, '[["a",1]]\n3\n');
    writeFileSync(`${file}.journal`, '3\n["b",2]\n');
    const map = new JsonFileMap<number>(file, new FakeClock(), new SilentLogger());
    expect([map.get('a'), map.get('b')]).toEqual([1, 2]);
  });

  const make = async (name: string, key: string): Promise<string> => {
    const file = join(dir, name);
    const map = new JsonFileMap<number>(file, new FakeClock(), new SilentLogger());
    map.set(key, 1);
    await map.flush();
    await map.persist('durable', 2);
    // As a killed process leaves them: the end of this one writes all into the first.
    const left = [file, `${file}.journal`].map((one) => [one, readFileSync(one)] as const);
    await map.close();
    for (const [one, content] of left) writeFileSync(one, content);
    return file;
  };
  it.each<[string, (text: string, other: string) => string]>([
    ['cut in its entries', (text) => text.slice(0, 7)],
    ['cut in its generation', (text) => text.slice(0, text.indexOf('\n') + 1)],
    ['changed in its entries', (text) => text.replace('"a",1', '"a",7')],
    ['changed in its generation', (text) => text.replace(/\n\d+\n/, '\n9\n')],
    ['replaced by the file of another map', (_text, other) => other],
    ['empty', () => ''],
    ['something else', () => '{"kind":"List"}\n'],
    ['null', () => 'null\n'],
  ])('puts a file aside that is %s', async (_name, damage) => {
    const file = await make('state.json', 'a');
    const other = await make('other.json', 'b');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, damage(text, readFileSync(other, 'utf8')));
    const log = new SilentLogger();
    const map = new JsonFileMap<number>(file, new FakeClock(), log);
    expect(map.keys()).toEqual([]);
    expect(readdirSync(dir)).toContain('state.json.damaged');
    expect(log.entries).toMatchObject([
      { level: 'error', message: 'state file is damaged: renamed, starting without it' },
    ]);
  });

  it('takes no entries from the file of another map, nor what are none', async () => {
    const file = await make('state.json', 'a');
    const other = await make('other.json', 'b');
    const open = () => new JsonFileMap<number>(file, new FakeClock(), new SilentLogger());
    expect(open().keys()).toEqual(['a', 'durable']);
    const own = readFileSync(`${file}.journal`, 'utf8');
    writeFileSync(`${file}.journal`, `${own}"text"\n[1,2]\n{"a":1}\n["x"]\n["b",`);
    expect(open().keys()).toEqual(['a', 'durable']);
    writeFileSync(`${file}.journal`, readFileSync(`${other}.journal`));
    expect(open().keys()).toEqual(['a']);
  });
});
