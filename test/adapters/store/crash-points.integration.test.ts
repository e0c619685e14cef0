import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HistoryStore, HistoryReader } from '../../../src/adapters/store/history-store.ts';
import { JsonFileMap } from '../../../src/adapters/store/json-file.ts';
import { digestSnapshot } from '../../../src/adapters/store/snapshot-digest.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { type DiskDeath, DiskLife } from '@berth/test-kit/mortal-disk';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { decisionRecord } from '../../fakes/decision-record.ts';

vi.mock('node:fs/promises', async (original) => {
  const { mortalFs } = await import('@berth/test-kit/mortal-disk');
  return mortalFs(await original());
});

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});
function newDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'berth-crash-'));
  dirs.push(dir);
  return dir;
}

/** Runs the story with a death at every change of a file, until it gets to its end. */
async function atEveryChange(
  how: Pick<DiskDeath, 'when' | 'losesPower'>,
  story: (death: DiskDeath, processId: (pid: number) => void) => Promise<DiskLife>,
): Promise<readonly string[]> {
  const pid = vi.spyOn(process, 'pid', 'get');
  let changes: readonly string[] = [];
  for (let at = 1, reached = true; reached; at++) {
    const life = await story({ at, ...how }, (id) => pid.mockReturnValue(id));
    reached = life.dead;
    changes = life.changes;
  }
  pid.mockRestore();
  return changes;
}

const order = (hash: string): number => (hash === 'last' ? Infinity : Number(hash.slice(1)));
const snapshotOf = (version: number): Snapshot => ({
  now: `2026-01-0${version + 1}T00:00:00Z`,
  placements: [],
  clusters: [
    {
      apiVersion: 'cluster.open-cluster-management.io/v1',
      kind: 'ManagedCluster',
      metadata: { name: 'c1', labels: { version: String(version) } },
    },
  ],
  clusterSets: [],
  bindings: [],
  decisions: [],
  scores: [],
});
const recordOf = (hash: string, inputs: string) => decisionRecord({ hash, inputs, placement: 'a/web' });

const KILLS = [
  { what: 'kill -9', when: 'before' },
  { what: 'kill -9', when: 'after' },
] as const;
const POWER_CUTS = [
  { what: 'a power cut', when: 'before', losesPower: true },
  { what: 'a power cut', when: 'after', losesPower: true },
] as const;

describe.each([...KILLS, ...POWER_CUTS])('$what at every change of a file, $when it is made', (how) => {
  it('a map: all of the old values or all of the new ones, and nothing left behind', async () => {
    const changes = await atEveryChange(how, async (death, processId) => {
      const dir = join(newDir(), 'data');
      const file = join(dir, 'state.json');
      const open = () => new JsonFileMap<number>(file, new FakeClock(), new SilentLogger());
      processId(1);
      const first = open();
      first.set('a', 1);
      await first.close();

      processId(2);
      const life = new DiskLife(dir, death);
      const second = open();
      second.set('a', 2);
      second.set('b', 2);
      const done = await life.survives(second.close());

      processId(3);
      await life.end();
      const next = open();
      const values = [next.get('a'), next.get('b')];
      if (done) expect(values).toEqual([2, 2]);
      else
        expect([
          [1, undefined],
          [2, 2],
        ]).toContainEqual(values);
      expect(readdirSync(dir)).toEqual(['state.json']);
      return life;
    });
    expect(changes).toEqual(
      ['open', 'write', 'sync', 'close']
        .map((name) => `${name} state.json.2.tmp`)
        .concat('rename state.json', 'sync names of data'),
    );
  });

  it('a map: a write that was waited for is there, and a later one is not undone', async () => {
    const changes = await atEveryChange(how, async (death, processId) => {
      const dir = newDir();
      const file = join(dir, 'state.json');
      const log = new SilentLogger();
      const open = () => new JsonFileMap<number>(file, new FakeClock(), log);
      processId(1);
      const first = open();
      await first.persist('a', 1);
      await first.close();

      processId(2);
      const life = new DiskLife(dir, death);
      const second = open();
      const kept = new Map([['a', 1]]);
      const keep = async (key: string, value: number): Promise<void> => {
        await second.persist(key, value);
        kept.set(key, value);
      };
      const work = async (): Promise<void> => {
        await Promise.all([keep('a', 2), keep('b', 2)]);
        await keep('b', 3);
        second.set('a', 4);
        await second.close();
        kept.set('a', 4);
      };
      await life.survives(work());

      processId(3);
      await life.end();
      const next = open();
      for (const [key, value] of kept) expect(next.get(key)).toBeGreaterThanOrEqual(value);
      expect([undefined, 1, 2, 3, 4]).toContain(next.get('b'));
      // What is kept next is not lost behind half a line.
      await next.persist('c', 5);
      expect(open().get('c')).toBe(5);
      expect(open().get('a')).toBe(next.get('a'));
      expect(log.entries).toEqual([]);
      expect(readdirSync(dir).sort()).toEqual(['state.json', 'state.json.journal']);
      return life;
    });
    expect(changes).toContain('datasync state.json.journal');
    expect(changes).toContain('rename state.json.journal');
    expect(changes).toContain('rename state.json');
  });
});

// A power cut may cost the newest records and their inputs: nothing that is decided waits for them.
describe.each(KILLS)('$what at every change of a file, $when it is made', (how) => {
  it('the history: no record that was on disk is lost, nor one that comes after, and each has its inputs', async () => {
    const snapshots = [0, 1, 2].map(snapshotOf);
    const changes = await atEveryChange(how, async (death, processId) => {
      const dir = newDir();
      const log = new SilentLogger();
      const open = () => new HistoryStore({ dir, maxRecords: 4, log });
      const append = async (
        store: HistoryStore,
        names: readonly string[],
        snapshot: number,
      ): Promise<void> => {
        const digest = digestSnapshot(snapshots[snapshot] as Snapshot);
        for (const name of names) store.append(recordOf(name, digest.hash), digest);
        await store.flush();
      };
      processId(1);
      await append(open(), ['r0', 'r1'], 0);

      processId(2);
      const flushed = ['r0', 'r1'];
      const life = new DiskLife(dir, death);
      const dying = open();
      const work = async (): Promise<void> => {
        for (const [names, snapshot] of [
          [['r2'], 0],
          [['r3', 'r4'], 1],
          [['r5'], 1],
        ] as const) {
          await append(dying, names, snapshot);
          flushed.push(...names);
        }
      };
      await life.survives(work());

      processId(3);
      await life.end();
      await append(open(), ['last'], 2);
      expect(log.entries).toEqual([]);
      const reader = new HistoryReader(dir);
      const records = await reader.list();
      const hashes = records.map(({ hash }) => hash);
      const newer = (hash: string) => hashes.filter((other) => order(other) > order(hash)).length;
      for (const hash of [...flushed, 'last']) if (newer(hash) < 4) expect(hashes).toContain(hash);
      expect(hashes).toEqual([...hashes].sort((a, b) => order(a) - order(b)));
      for (const { hash, inputs } of records)
        expect(await reader.readSnapshot(inputs)).toEqual(
          snapshots[hash === 'last' ? 2 : order(hash) < 3 ? 0 : 1],
        );
      expect(readdirSync(dir).sort()).toEqual(['pieces', 'records.jsonl', 'worlds']);
      return life;
    });
    // Shortening it is among them.
    expect(changes).toContain('rename records.jsonl');
    expect(changes.length).toBeGreaterThan(20);
  });
});
