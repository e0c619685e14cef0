import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type * as FileSystem from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** Called before each change of the disk. */
const disk = vi.hoisted(() => ({ beforeChange: (): void => undefined }));

vi.mock('node:fs/promises', async (original) => {
  const real: typeof FileSystem = await original();
  const noting =
    <Args extends unknown[], Result>(change: (...args: Args) => Result) =>
    (...args: Args): Result => {
      disk.beforeChange();
      return change(...args);
    };
  const open = async (...args: Parameters<typeof real.open>) => {
    if (args[1] !== 'r') disk.beforeChange();
    const handle = await real.open(...args);
    handle.appendFile = noting(handle.appendFile.bind(handle));
    return handle;
  };
  return {
    ...real,
    open,
    rename: noting(real.rename),
    rm: noting(real.rm),
    truncate: noting(real.truncate),
    mkdir: noting(real.mkdir),
  };
});

const { AppendLog } = await import('../../packages/embedded-hub/src/log/append-log.ts');
const { recoverState } = await import('../../packages/embedded-hub/src/log/recovery.ts');

let directory: string;
let copies: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'berth-crash-points-'));
  copies = mkdtempSync(join(tmpdir(), 'berth-crash-copies-'));
});
afterEach(() => {
  disk.beforeChange = () => undefined;
  for (const path of [directory, copies]) rmSync(path, { recursive: true, force: true });
});

const key = (name: string) => ({ storage: 'configmaps', namespace: 'ns', name });
const json = (name: string) => JSON.stringify({ metadata: { name } });
const objects = (rv: number) =>
  Array.from({ length: rv }, (_, index) => {
    const name = `o${String(index + 1)}`;
    return { ...key(name), rv: index + 1, json: () => json(name) };
  });
const open = (path: string) =>
  AppendLog.open({
    directory: path,
    onDurable: () => undefined,
    onFatal: (error) => {
      throw error;
    },
  });

interface Crash {
  readonly path: string;
  /** What had been acknowledged by then, and what had been asked for. */
  readonly acknowledged: number;
  readonly written: number;
}

/** Writes, compacts, closes and starts again; copies the directory before every change of the disk. */
async function live(): Promise<Crash[]> {
  const crashes: Crash[] = [];
  const progress = { acknowledged: 0, written: 0 };
  disk.beforeChange = () => {
    const path = join(copies, String(crashes.length));
    mkdirSync(path);
    cpSync(directory, path, { recursive: true });
    crashes.push({ path, ...progress });
  };
  for (let start = 0; start < 3; start += 1) {
    const { log } = await open(directory);
    for (let round = 0; round < 3; round += 1) {
      for (let count = 0; count < 2; count += 1) {
        progress.written += 1;
        const rv = progress.written;
        log.put(key(`o${String(rv)}`), rv, { timeMs: 0, json: json(`o${String(rv)}`) });
        await log.durable(rv);
        progress.acknowledged = rv;
      }
      if (round === 1) await log.checkpoint();
      else
        await log.compact(() => ({
          rv: progress.written,
          timeMs: 0,
          objects: objects(progress.written),
        }));
      // Nothing was written since: neither a new segment nor a new snapshot.
      if (round === 2)
        await log.compact(() => ({
          rv: progress.written,
          timeMs: 0,
          objects: objects(progress.written),
        }));
    }
    await log.close(progress.written);
  }
  disk.beforeChange = () => undefined;
  return crashes;
}

describe('a log whose process is killed before any one change of the disk', () => {
  it('starts with everything that was acknowledged, is checked before and after, and goes on', async () => {
    const crashes = await live();
    expect(crashes.length).toBeGreaterThan(60);
    for (const { path, acknowledged, written } of crashes) {
      const checked = await recoverState(path, { repair: false, thorough: true });
      const { log, state } = await open(path);
      expect([checked.rv, checked.objectCount]).toEqual([state.rv, state.objectCount]);
      expect(state.rv, path).toBeGreaterThanOrEqual(acknowledged);
      expect(state.rv).toBeLessThanOrEqual(written);
      expect(state.objectCount).toBe(state.rv);
      expect(state.warnings).toEqual([]);
      log.put(key('after'), state.rv + 1, { timeMs: 0, json: json('after') });
      await log.compact(() => ({
        rv: state.rv + 1,
        timeMs: 0,
        objects: [...objects(state.rv), { ...key('after'), rv: state.rv + 1, json: () => json('after') }],
      }));
      await log.close(state.rv + 1);
      const after = await recoverState(path, { repair: false, thorough: true });
      expect([after.rv, after.objectCount, after.warnings]).toEqual([state.rv + 1, state.rv + 1, []]);
    }
  });
});
