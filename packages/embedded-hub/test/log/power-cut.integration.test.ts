import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import type * as FileSystem from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** What a power cut would take: content that was not synced, and names in folders that were not. */
const disk = vi.hoisted(() => ({
  files: new Set<string>(),
  names: new Set<string>(),
  tooEarly: [] as string[],
}));

vi.mock('node:fs/promises', async (original) => {
  const real: typeof FileSystem = await original();
  const open = async (...args: Parameters<typeof real.open>) => {
    const path = String(args[0]);
    if (args[1] !== 'r' && !existsSync(path)) disk.names.add(path);
    const handle = await real.open(...args);
    const append = handle.appendFile.bind(handle);
    const [sync, datasync] = [handle.sync.bind(handle), handle.datasync.bind(handle)];
    handle.appendFile = (...given) => {
      disk.files.add(path);
      return append(...given);
    };
    const synced = () => {
      disk.files.delete(path);
      for (const name of disk.names) if (dirname(name) === path) disk.names.delete(name);
    };
    handle.sync = () => sync().then(synced);
    handle.datasync = () => datasync().then(synced);
    return handle;
  };
  const rename = async (from: string, to: string): Promise<void> => {
    // What a file says of others may be true only once these are on the disk.
    disk.tooEarly.push(...disk.files, ...[...disk.names].filter((name) => name !== from));
    await real.rename(from, to);
    disk.names.delete(from);
    disk.names.add(to);
  };
  return { ...real, open, rename };
});

const { AppendLog } = await import('../../src/log/append-log.ts');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'berth-power-'));
  disk.files.clear();
  disk.names.clear();
  disk.tooEarly.length = 0;
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const key = (name: string) => ({ storage: 'configmaps', namespace: 'ns', name });
const lost = () =>
  [...disk.files, ...disk.names, ...disk.tooEarly].map((path) => path.replace(directory, ''));

describe('a power cut', () => {
  it('takes nothing that the log called durable', async () => {
    const durable: (readonly string[])[] = [];
    const onDurable = () => void durable.push(lost());
    const { log } = await AppendLog.open({
      directory,
      onDurable,
      onFatal: (error) => expect.fail(String(error)),
    });
    expect(lost()).toEqual([]);
    for (let rv = 1; rv <= 3; rv++) {
      log.put(key('a'), rv, { timeMs: 0, json: '{}' });
      expect(durable).toHaveLength(rv - 1);
      await log.durable(rv);
    }
    expect(durable).toEqual([[], [], []]);
    await log.close(3);
    expect(lost()).toEqual([]);
  });

  it('takes no snapshot that is named, and no segment that is begun', async () => {
    const { log } = await AppendLog.open({
      directory,
      onDurable: () => undefined,
      onFatal: (error) => expect.fail(String(error)),
    });
    for (let rv = 1; rv <= 3; rv++) {
      log.put(key('a'), rv, { timeMs: 0, json: '{}' });
      const objects = [{ ...key('a'), rv, json: () => '{}' }];
      await log.compact(() => ({ rv, timeMs: 0, objects }));
      expect(lost()).toEqual([]);
    }
    await log.close(3);
  });
});
