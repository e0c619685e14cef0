import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  type DeletionLoss,
  type EarlierLoss,
  type LosingSync,
  lossEntries,
  lossesBefore,
  noteLosses,
  parseLosses,
  sumEarlierLosses,
} from '../../../src/core/sync/earlier-losses.ts';
import { judgeLosses } from '../../../src/core/sync/plan-prune.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const loss = (name: string, count: number, of: number): DeletionLoss => ({
  holder: `Placement team-a/${name}`,
  identity: name,
  by: ['ManagedCluster c1'],
  what: 'clusters',
  count,
  of,
  clusters: ['c1'],
  budget: undefined,
  heldFor: undefined,
});
const cluster = (name: string, again = ''): KubeObject => ({
  apiVersion: 'cluster.open-cluster-management.io/v1',
  kind: 'ManagedCluster',
  metadata: { name, uid: `uid-${name}${again}` },
});
const syncOf = (losses: readonly DeletionLoss[], clusters = ['c1']): LosingSync => ({
  objects: clusters.map((name) => cluster(name)),
  losses,
  digest,
});
const entriesOf = (losses: readonly DeletionLoss[], atMs: number) => lossEntries(syncOf(losses), atMs);
const hashOf = (name: string) => entriesOf([loss(name, 1, 1)], 0)[0]?.holder ?? '';

describe('what deletions took away before', () => {
  const text = (losses: readonly EarlierLoss[], nowMs = 10_000) =>
    noteLosses(losses, nowMs)['berth.dev/recent-losses'] ?? '';
  const read = (written: string) => parseLosses({ 'berth.dev/recent-losses': written });

  it('is written and read again, oldest first; what cannot be understood is left out', () => {
    const losses = [...entriesOf([loss('b', 3, 8)], 2_000), ...entriesOf([loss('a', 1, 8)], 1_000)];
    const cause = losses[0]?.causes[0] ?? '';
    expect(cause).toMatch(/^[0-9a-f]{10}$/);
    expect(text(losses)).toBe(`1000:${hashOf('a')}:1:${cause};2000:${hashOf('b')}:3:${cause}`);
    expect(read(text(losses))).toEqual([losses[1], losses[0]]);
    expect(read(`;x;1:zz:1;1000:${hashOf('a')}:1:z;5:${hashOf('a')}:4`)).toEqual([
      { atMs: 5, holder: hashOf('a'), count: 4, causes: [] },
    ]);
    expect(text([])).toBe('');
  });

  it('is of the present where the clock jumped back', () => {
    expect(read(text(entriesOf([loss('a', 1, 8)], 99_000)))[0]?.atMs).toBe(10_000);
  });

  it('counts for every other holder where there are too many of them, and never for less', () => {
    const many = Array.from({ length: 900 }, (_, at) => loss(`p${at}`, at < 400 ? 2 : 1, 8));
    const known = read(text(entriesOf(many, 1_000)));
    expect(known.length).toBe(501);
    const lost = many.map(
      ({ holder }, at) => sumEarlierLosses(known, hashOf(`p${at}`)) >= (holder === '' ? 0 : 1),
    );
    expect(lost.every(Boolean)).toBe(true);
    expect(sumEarlierLosses(known, hashOf('p0'))).toBe(2);
    expect(sumEarlierLosses(known, hashOf('never lost anything'))).toBe(2);
    // Once more: what counts for all stays, and becomes no more by itself.
    expect(read(text(known))).toEqual(known);
  });

  it('loses the causes of the oldest where there are too many, and counts these in any case', () => {
    const clusters = Array.from({ length: 150 }, (_, at) => `c${at}`);
    const by = clusters.map((name) => `ManagedCluster ${name}`);
    const many = Array.from({ length: 20 }, (_, at) => ({ ...loss(`p${at}`, 1, 8), by }));
    const known = read(text(many.flatMap((one, at) => lossEntries(syncOf([one], clusters), at))));
    expect(known.map(({ causes }) => causes.length)).toEqual([
      ...Array.from({ length: 7 }, () => 0),
      ...Array.from({ length: 13 }, () => 150),
    ]);
    const all = clusters.map((name) => cluster(name));
    expect(lossesBefore(known, all, syncOf([], []))).toEqual(known.slice(0, 7));
  });

  it.each([
    { name: 'the causes are gone', exist: [], deleted: [], again: 0, want: 4 },
    { name: 'one cause is gone', exist: ['c1'], deleted: [], again: 0, want: 4 },
    {
      name: 'nothing was deleted, and the sync deletes nothing',
      exist: ['c1', 'c2'],
      deleted: [],
      again: 0,
      want: 0,
    },
    {
      name: 'nothing was deleted before the controller was killed',
      exist: ['c1', 'c2'],
      deleted: ['c1', 'c2'],
      again: 4,
      want: 0,
    },
    {
      name: 'one of both was deleted before the controller was killed',
      exist: ['c2'],
      deleted: ['c2'],
      again: 3,
      want: 1,
    },
    { name: 'more is lost now than before', exist: ['c2'], deleted: ['c2'], again: 5, want: 0 },
    { name: 'another object is deleted', exist: ['c2', 'c3'], deleted: ['c3'], again: 3, want: 4 },
  ])('adds what is not the same deletion: $name', ({ exist, deleted, again, want }) => {
    const by = ['ManagedCluster c1', 'ManagedCluster c2', 'ManagedCluster c3'];
    const lost = (count: number): DeletionLoss => ({ ...loss('web', count, 8), by });
    const before = lossEntries(syncOf([lost(4)], ['c1', 'c2']), 1_000);
    const counted = lossesBefore(
      before,
      exist.map((name) => cluster(name)),
      syncOf(again === 0 ? [] : [lost(again)], deleted),
    );
    expect(sumEarlierLosses(counted, hashOf('web'))).toBe(want);
  });

  it('takes a loss that is repeated from the earlier ones once', () => {
    const by = ['ManagedCluster c1', 'ManagedCluster c2', 'ManagedCluster c3', 'ManagedCluster c4'];
    const lost = (count: number): DeletionLoss => ({ ...loss('web', count, 9), by });
    const before = [
      ...lossEntries(syncOf([lost(3)], ['c1', 'c2']), 1_000),
      ...lossEntries(syncOf([lost(4)], ['c3', 'c4']), 2_000),
    ];
    const sync = syncOf([lost(5)], ['c2', 'c4']);
    const counted = lossesBefore(before, [cluster('c2'), cluster('c4')], sync);
    expect(counted.map(({ atMs, count }) => [atMs, count])).toEqual([[2_000, 2]]);
  });

  it('counts when what was deleted is there again', () => {
    const before = entriesOf([loss('web', 4, 8)], 1_000);
    const sync = syncOf([], []);
    expect(lossesBefore(before, [cluster('c1')], sync)).toEqual([]);
    expect(lossesBefore(before, [cluster('c1', 'again')], sync)).toEqual(before);
    const { metadata, ...rest } = cluster('c1');
    const leaving = { ...rest, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(lossesBefore(before, [leaving], sync)).toEqual(before);
  });

  it('counts what an earlier version stored without causes', () => {
    const before = read(`1000:${hashOf('web')}:4`);
    expect(lossesBefore(before, [cluster('c1')], syncOf([loss('web', 4, 8)]))).toEqual(before);
  });

  it.each([
    { name: 'nothing before', before: [], want: undefined },
    { name: 'as many as the budget still allows', before: [['web', 1]], want: undefined },
    { name: 'one too many', before: [['web', 2]], want: '(budget 2, after 2 in the 10 minutes before)' },
    { name: 'those of another holder', before: [['api', 9]], want: undefined },
    // Of 16, a quarter may go.
    { name: 'a share of what there was before', before: [['web', 4]], of: 12, want: '(budget 4, after 4 in' },
    { name: 'a share of what there was before, not yet used', before: [['web', 3]], of: 13, want: undefined },
  ] as { name: string; before: [string, number][]; of?: number; want: string | undefined }[])(
    'is added to what goes: $name',
    ({ before, of = 8, want }) => {
      const losses = before.flatMap(([name, count]) => entriesOf([loss(name, count, 8)], 1_000));
      const rules = {
        budget: { percent: 25, atLeast: 2 },
        digest,
        earlierLosses: { losses, windowMs: 600_000 },
      };
      const held = judgeLosses([loss('web', 1, of)], rules)?.text;
      if (want === undefined) expect(held).toBeUndefined();
      else expect(held).toContain(want);
    },
  );
});
