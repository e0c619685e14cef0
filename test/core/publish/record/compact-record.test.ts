import { describe, expect, it } from 'vitest';
import {
  type CompactRecord,
  compactRecord,
  planRecordData,
  recordsOf,
  selectNewRecords,
} from '../../../../src/core/publish/record/compact-record.ts';
import type { DecisionRecord } from '../../../../src/core/publish/record/decision-record.ts';

const full: DecisionRecord = {
  hash: '1c0ffee5c0ffee55',
  placement: 'team-a/web',
  publishedAt: '2026-03-01T12:00:00.123Z',
  engineVersion: '0.1.0',
  commit: { id: 'a'.repeat(40), author: 'Ada <ada@example.org>', subject: 's'.repeat(500) },
  inventoryRevision: 7,
  inputs: 'b'.repeat(32),
  decided: '{"selected":[]}',
  clusters: 5_000,
  published: null,
  added: Array.from({ length: 5_000 }, (_, i) => `cluster-${i}`),
  removed: ['c1'],
  released: { token: '0a1b2c3d4e5f', by: 'Grace at 2026-03-01T11:59:00Z' },
};

const record = (second: number, placement = 'team-a/web', names = 0): CompactRecord =>
  compactRecord((text) => text, {
    ...full,
    hash: `hash-${placement.slice(7)}-${second}`,
    placement,
    publishedAt: new Date(Date.UTC(2026, 2, 1, 12, 0, second)).toISOString(),
    added: full.added.slice(0, names),
  });

/** What the ConfigMap contains after the change. */
const after = (present: Record<string, string>, change: Readonly<Record<string, string | null>>) =>
  Object.fromEntries(Object.entries({ ...present, ...change }).filter(([, text]) => text !== null)) as Record<
    string,
    string
  >;

describe('compact records', () => {
  it('say who, when, from which commit and how much, in less than 2 KB', () => {
    const compact = compactRecord(() => 'digest', full);
    expect(compact).toMatchObject({
      hash: full.hash,
      commit: { author: 'Ada <ada@example.org>' },
      added: { count: 5_000 },
      removed: { count: 1, names: ['c1'] },
      released: full.released,
      decidedSha256: 'digest',
    });
    expect(JSON.stringify(compact).length).toBeLessThan(2_000);
  });

  it('are added under keys that a ConfigMap takes, and read back in the order of time', () => {
    const data = after({}, planRecordData({}, [record(2), record(1), record(3, 'team-a/api')]));
    for (const key of Object.keys(data)) expect(key).toMatch(/^[-._a-zA-Z0-9]{1,253}$/);
    expect(recordsOf(data)).toEqual([record(1), record(2), record(3, 'team-a/api')]);
  });

  it('written again change nothing', () => {
    const data = after({}, planRecordData({}, [record(1), record(2)]));
    expect(planRecordData(data, [record(2)])).toEqual({});
  });

  it.each([
    {
      name: 'of one placement',
      limits: { perPlacement: 2, records: 100, chars: 1e6 },
      want: ['api-1', 'web-3', 'web-4'],
    },
    { name: 'in all', limits: { perPlacement: 9, records: 2, chars: 1e6 }, want: ['web-3', 'web-4'] },
    {
      name: 'in characters',
      limits: { perPlacement: 9, records: 9, chars: 1_300 },
      want: ['web-3', 'web-4'],
    },
  ])('are bounded $name: the newest stay', ({ limits, want }) => {
    const first = after({}, planRecordData({}, [record(1, 'team-a/api'), record(2)], limits));
    const data = after(first, planRecordData(first, [record(3), record(4)], limits));
    expect(recordsOf(data).map(({ hash }) => hash.slice(5))).toEqual(want);
  });

  it('are bounded to the newest twenty of a placement by default', () => {
    const all = Array.from({ length: 21 }, (_, second) => record(second));
    expect(recordsOf(after({}, planRecordData({}, all)))).toEqual(all.slice(1));
  });

  it('throw out what is none, and read around it', () => {
    const data = {
      ...after({}, planRecordData({}, [record(1)])),
      note: 'hello',
      '20260101': '{"placement":5}',
    };
    expect(recordsOf(data)).toEqual([record(1)]);
    expect(planRecordData(data, [])).toEqual({ note: null, '20260101': null });
  });

  describe('found after a restart', () => {
    const present = after({}, planRecordData({}, [{ ...record(1), clusters: 3 }]));
    const found = { ...record(2), clusters: 3, afterRestart: true as const };
    it.each<{ readonly name: string; readonly record: CompactRecord; readonly isNew: boolean }>([
      { name: 'that the hub has', record: found, isNew: false },
      { name: 'of another change', record: { ...found, removed: { count: 1, names: ['c2'] } }, isNew: true },
      { name: 'of another number of clusters', record: { ...found, clusters: 4 }, isNew: true },
      { name: 'of another placement', record: { ...found, placement: 'team-a/api' }, isNew: true },
      {
        name: 'without a past, of what the hub has',
        record: { ...found, added: { count: 3, names: [] }, removed: { count: 0, names: [] } },
        isNew: false,
      },
      {
        name: 'by the process that published it',
        record: { ...found, afterRestart: undefined },
        isNew: true,
      },
    ])('one $name is new: $isNew', ({ record: fresh, isNew }) => {
      expect(selectNewRecords(present, [fresh])).toEqual(isNew ? [fresh] : []);
    });
  });
});
