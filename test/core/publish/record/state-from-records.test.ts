import { describe, expect, it } from 'vitest';
import { type CompactRecord, stateFromRecords } from '../../../../src/core/publish/record/compact-record.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const MINUTE_MS = 60_000;

const record = (minutesAgo: number, over: Partial<CompactRecord> = {}, removed = 0): CompactRecord => ({
  hash: `r${minutesAgo}`,
  placement: 'team-a/web',
  publishedAt: new Date(NOW - minutesAgo * MINUTE_MS).toISOString(),
  engineVersion: 'x',
  commit: null,
  inventoryRevision: 1,
  inputs: 'i',
  decidedSha256: 'd',
  clusters: 5,
  added: { count: 0, names: [] },
  removed: { count: removed, names: [] },
  released: null,
  ...over,
});
const removal = (minutesAgo: number, count: number) => ({ atMs: NOW - minutesAgo * MINUTE_MS, count });
const released = (code: string) => ({ released: { token: code, by: 'Ada' } });
const recall = (...records: unknown[]) =>
  stateFromRecords(records as CompactRecord[], { specHash: 's', nowMs: NOW });

describe('stateFromRecords', () => {
  it('knows nothing without records', () => {
    expect(recall()).toBeUndefined();
  });

  it.each([
    {
      name: 'removals of the last ten minutes, each with its time',
      records: [record(20, {}, 4), record(9, {}, 2), record(3), record(1, {}, 1)],
      want: { removals: [removal(9, 2), removal(1, 1)], publishedAtMs: NOW - MINUTE_MS },
    },
    {
      name: 'only what came after a release, and that it is used up',
      records: [record(9, {}, 2), record(5, released('abc'), 3), record(2, {}, 1)],
      want: { removals: [removal(2, 1)], spent: ['abc'] },
    },
    {
      name: 'releases of any age',
      records: [record(900, released('abc'), 3), record(800, released('def'), 3)],
      want: { removals: [], spent: ['abc', 'def'] },
    },
    {
      name: 'no removal that a start only found',
      records: [record(2, { afterRestart: true }, 3)],
      want: { removals: [] },
    },
    {
      name: 'a removal that a start found and that had been noted before it was made',
      records: [record(2, { afterRestart: true, counts: true }, 3)],
      want: { removals: [removal(2, 3)] },
    },
    {
      name: 'no removal under an earlier spec',
      records: [record(9, { spec: 'r' }, 2), record(5, { spec: 's' }, 1), record(3, { spec: 's' }, 4)],
      want: { removals: [removal(5, 1), removal(3, 4)] },
    },
    {
      name: 'a removal that a clock ahead of ours recorded',
      records: [record(-2, {}, 3)],
      want: { removals: [removal(-2, 3)] },
    },
  ])('recalls $name', ({ records, want }) => {
    expect(recall(...records)).toMatchObject({ specHash: 's', recalled: true, ...want });
  });

  it('passes over what is no record of ours', () => {
    const { removed: _removed, ...without } = record(3);
    const broken = [
      without,
      { ...record(2), publishedAt: 'soon' },
      { ...record(1), released: {} },
      record(4, {}, 2),
    ];
    expect(recall(...broken)).toMatchObject({
      removals: [removal(4, 2)],
      publishedAtMs: NOW - 4 * MINUTE_MS,
    });
    expect(recall(without)).toBeUndefined();
  });

  it('counts nothing of a placement of the same name that was deleted', () => {
    const records = [record(9, released('abc'), 2), record(4, {}, 1)];
    const createdAt = new Date(NOW - 5 * MINUTE_MS).toISOString();
    const state = stateFromRecords(records, { specHash: 's', nowMs: NOW, createdAt });
    expect(state).toMatchObject({ removals: [removal(4, 1)], spent: undefined });
  });

  it('names the spec of the last publication', () => {
    const records = [record(4, { spec: 'earlier' }, 1)];
    expect(stateFromRecords(records, { specHash: 's', nowMs: NOW })?.specHash).toBe('earlier');
  });
});
