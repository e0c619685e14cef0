import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRecordLog, RecordLog } from '../../../src/adapters/store/record-log.ts';
import type { DeletionRecord } from '../../../src/core/sync/deletion-record.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const record = (name: string): DeletionRecord => ({
  deletedAt: '2026-01-01T00:00:00.000Z',
  source: 'fleet',
  object: `Placement team-a/${name}`,
  commit: null,
  took: {},
  released: null,
});

describe('the log of deletions', () => {
  let dir: string;
  const log = new SilentLogger();
  const open = (maxRecords = 100) =>
    new RecordLog<DeletionRecord>({ dir: join(dir, 'history'), name: 'deletions', maxRecords, log });
  const objects = async () =>
    (await readRecordLog<DeletionRecord>({ dir: join(dir, 'history'), name: 'deletions' })).map(
      ({ object }) => object.slice(17),
    );
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-deletions-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('is empty before the first', async () => {
    expect(await objects()).toEqual([]);
  });

  it('goes on after a restart, and after a line that a crash cut off', async () => {
    const first = open();
    first.append(record('a'));
    first.append(record('b'));
    await first.flush();
    appendFileSync(join(dir, 'history', 'deletions.jsonl'), '{"deletedAt":"2026');
    const second = open();
    second.append(record('c'));
    await second.flush();
    expect(await objects()).toEqual(['a', 'b', 'c']);
  });

  it('keeps the newest', async () => {
    const deletions = open(4);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      deletions.append(record(name));
      await deletions.flush();
    }
    expect(await objects()).toEqual(['c', 'd', 'e', 'f']);
  });

  it('that cannot be written costs records, and is reported', async () => {
    writeFileSync(join(dir, 'history'), 'no directory');
    const deletions = open();
    deletions.append(record('a'));
    await deletions.flush();
    expect(log.entries.some(({ message }) => message === 'deletions were not recorded')).toBe(true);
  });
});
