import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InputError } from '@berth/runtime/errors';
import { encodeRecord } from '../../src/log/log-record.ts';
import { AppendLog } from '../../src/log/append-log.ts';
import type { RecoveredState } from '../../src/log/recovery.ts';
import { recoverState } from '../../src/log/recovery.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'berth-append-log-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const open = () =>
  AppendLog.open({
    directory,
    onDurable: () => undefined,
    onFatal: (error) => {
      throw error;
    },
  });

const key = (name: string) => ({ storage: 'configmaps', namespace: 'ns', name });
const json = (name: string) => JSON.stringify({ metadata: { name } });

async function write(count: number): Promise<void> {
  const { log, state } = await open();
  for (let rv = state.rv + 1; rv <= state.rv + count; rv += 1)
    log.put(key(`o${String(rv)}`), rv, { timeMs: 0, json: json(`o${String(rv)}`) });
  await log.close(state.rv + count);
}

/** As a killed process leaves the directory: the manifest is as it was before the end. */
async function writeAndCrash(count: number): Promise<void> {
  await write(0);
  const manifest = readFileSync(join(directory, 'manifest.json'));
  await write(count);
  writeFileSync(join(directory, 'manifest.json'), manifest);
}

const names = (state: RecoveredState) => [...state.objects].map(({ name }) => name);
const files = (prefix: string) =>
  readdirSync(directory)
    .filter((name) => name.startsWith(prefix))
    .sort();
const segment = () => join(directory, files('log-').at(-1) ?? '');

describe('log', () => {
  it('gives back what was written, without what was deleted', async () => {
    const { log } = await open();
    log.put(key('a'), 1, { timeMs: 0, json: json('a') });
    log.put(key('b'), 2, { timeMs: 0, json: '{"text":"line\\u000afeed ü"}' });
    log.delete(key('a'), 3, 0);
    await log.close(3);
    const state = await recoverState(directory, { repair: false });
    expect(state.rv).toBe(3);
    expect([...state.objects]).toMatchObject([{ name: 'b', rv: 2, object: { text: 'line\nfeed ü' } }]);
  });

  it('goes on in the same segment after a restart', async () => {
    await write(2);
    await write(2);
    expect(files('log-')).toHaveLength(1);
    expect(names(await recoverState(directory, { repair: false }))).toEqual(['o1', 'o2', 'o3', 'o4']);
  });

  it('knows the size of its segment after a restart', async () => {
    await write(3);
    const { log } = await open();
    expect(log.sizeBytes).toBe(statSync(segment()).size);
    await log.close(3);
  });

  it('reports durability in order, batch by batch', async () => {
    const reached: number[] = [];
    const { log } = await AppendLog.open({
      directory,
      onDurable: (rv) => reached.push(rv),
      onFatal: () => undefined,
    });
    for (let rv = 1; rv <= 100; rv += 1) log.put(key(`o${String(rv)}`), rv, { timeMs: 0, json: '{}' });
    expect(reached).toEqual([]);
    await log.durable(100);
    expect(reached.at(-1)).toBe(100);
    expect(reached.length).toBeLessThan(5);
    await log.close(100);
  });

  it.each([1, 9, 10, 30])('cuts off a torn tail of %d bytes and keeps everything before it', async (cut) => {
    await writeAndCrash(3);
    const whole = statSync(segment()).size;
    truncateSync(segment(), whole - cut);
    const { log, state } = await open();
    expect(state.rv).toBe(2);
    expect(state.warnings).toEqual([expect.stringContaining('cut short')]);
    log.put(key('again'), 3, { timeMs: 0, json: '{}' });
    await log.close(3);
    expect(names(await recoverState(directory, { repair: false }))).toEqual(['o1', 'o2', 'again']);
  });

  it('cuts off garbage that a power cut left at the end', async () => {
    await write(2);
    appendFileSync(segment(), Buffer.concat([Buffer.alloc(4096), Buffer.from('\n\0\0\n')]));
    const { log, state } = await open();
    expect(state.rv).toBe(2);
    await log.close(2);
    expect((await recoverState(directory, { repair: false })).warnings).toEqual([]);
  });

  it('refuses a damaged middle and names the file and the place', async () => {
    await write(5);
    const bytes = readFileSync(segment());
    const at = bytes.indexOf('"o3"');
    bytes[at + 1] = 'X'.charCodeAt(0);
    writeFileSync(segment(), bytes);
    const opening = open();
    await expect(opening).rejects.toThrow(InputError);
    await expect(opening).rejects.toThrow(/log-0+\.jsonl.*byte \d+/);
    expect(readFileSync(segment())).toEqual(bytes);
  });

  it('refuses a segment that is missing in the middle', async () => {
    const { log } = await open();
    log.put(key('a'), 1, { timeMs: 0, json: '{}' });
    await log.compact(() => ({ rv: 1, timeMs: 0, objects: [] }));
    log.put(key('b'), 2, { timeMs: 0, json: '{}' });
    await log.compact(() => ({ rv: 2, timeMs: 0, objects: [] }));
    log.put(key('c'), 3, { timeMs: 0, json: '{}' });
    await log.close(3);
    // As an earlier version left it: that had no manifest, and segments without an identity.
    const last = encodeRecord({ type: 'segment', rv: 2, format: 1 });
    for (const name of [...files('snapshot-'), ...files('log-'), 'manifest.json'])
      rmSync(join(directory, name));
    writeFileSync(join(directory, 'log-0000000000000002.jsonl'), last);
    await expect(open()).rejects.toThrow('records of versions 1 to 2 are missing');
  });
});

describe('compaction', () => {
  const objects = (...rvs: number[]) =>
    rvs.map((rv) => ({ ...key(`o${String(rv)}`), rv, json: () => json(`o${String(rv)}`) }));

  it('starts from the snapshot and drops segments that two snapshots have made superfluous', async () => {
    const { log } = await open();
    for (let round = 1; round <= 3; round += 1) {
      log.put(key(`o${String(round)}`), round, { timeMs: 0, json: json(`o${String(round)}`) });
      await log.compact(() => ({ rv: round, timeMs: 0, objects: objects(...[1, 2, 3].slice(0, round)) }));
    }
    await log.close(3);
    expect(files('snapshot-')).toHaveLength(2);
    const state = await recoverState(directory, { repair: false });
    expect(state).toMatchObject({ rv: 3, snapshotRv: 3, warnings: [] });
    expect(names(state)).toEqual(['o1', 'o2', 'o3']);
  });

  it('falls back to the older snapshot and the log when the newest is broken', async () => {
    const { log } = await open();
    log.put(key('o1'), 1, { timeMs: 0, json: json('o1') });
    await log.compact(() => ({ rv: 1, timeMs: 0, objects: objects(1) }));
    log.put(key('o2'), 2, { timeMs: 0, json: json('o2') });
    await log.compact(() => ({ rv: 2, timeMs: 0, objects: objects(1, 2) }));
    await log.close(2);
    const newest = join(directory, files('snapshot-').sort().at(-1) ?? '');
    const bytes = readFileSync(newest);
    bytes[bytes.length - 5] = 0;
    writeFileSync(newest, bytes);
    const state = await recoverState(directory, { repair: false });
    expect(state).toMatchObject({ rv: 2, snapshotRv: 1 });
    expect(state.warnings).toEqual([expect.stringContaining('using an older snapshot')]);
    expect(names(state)).toEqual(['o1', 'o2']);
  });

  it('loses nothing that is written while it runs', async () => {
    const { log } = await open();
    let rv = 0;
    const put = (): void => {
      rv += 1;
      log.put(key(`o${String(rv)}`), rv, { timeMs: 0, json: json(`o${String(rv)}`) });
    };
    for (let round = 0; round < 20; round += 1) {
      put();
      const compacting = log.compact(() => ({
        rv,
        timeMs: 0,
        objects: objects(...Array.from({ length: rv }, (_, index) => index + 1)),
      }));
      for (let more = 0; more < 5; more += 1) {
        put();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await compacting;
    }
    await log.close(rv);
    const state = await recoverState(directory, { repair: false });
    expect(state.rv).toBe(rv);
    expect(state.objectCount).toBe(rv);
  });

  it('removes a snapshot that was never finished', async () => {
    await write(1);
    writeFileSync(join(directory, 'snapshot-0000000000000009.jsonl.tmp'), 'half');
    await write(1);
    expect(files('snapshot-')).toEqual([]);
  });
});
