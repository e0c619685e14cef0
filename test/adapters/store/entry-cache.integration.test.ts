import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EntryCache } from '../../../src/adapters/store/entry-cache.ts';
import type { Logger } from '@berth/runtime/logger';

let dir: string;
let warnings: string[];
beforeEach(() => {
  dir = path.join(mkdtempSync(path.join(tmpdir(), 'berth-cache-')), 'parsed');
  warnings = [];
});
afterEach(() => rmSync(path.dirname(dir), { recursive: true, force: true }));

const open = (limits: { stamp?: string; maxBytes?: number; maxEntries?: number } = {}) => {
  const none = () => undefined;
  const log: Logger = {
    debug: none,
    info: none,
    warn: (text) => warnings.push(text),
    error: none,
    child: () => log,
  };
  return new EntryCache({ dir, stamp: 'v1', log, ...limits });
};
const entry = (key: string, text = `content of ${key}`) => ({ key, bytes: Buffer.from(text) });
const held = async (cache: EntryCache, ...keys: string[]): Promise<Record<string, string>> => {
  const found: Record<string, string> = {};
  await cache.read(new Set(keys), ({ key, bytes }) => (found[key] = bytes.toString()));
  return found;
};
const fill = async (
  cache: EntryCache,
  keys: readonly string[],
  live: readonly string[] = [],
  text?: string,
) => {
  cache.add(
    keys.map((key) => entry(key, text)),
    (key) => live.includes(key),
  );
  await cache.flush();
};
const files = () => readdirSync(dir).sort();
const diskBytes = () => files().reduce((sum, name) => sum + readFileSync(path.join(dir, name)).length, 0);

describe('a cache of entries', () => {
  it('gives back what was put in, to another process too', async () => {
    await fill(open(), ['a1', 'b2']);
    await fill(open(), ['c3']);
    expect(await held(open(), 'a1', 'c3', 'never')).toEqual({ a1: 'content of a1', c3: 'content of c3' });
  });

  it('knows nothing in an empty or missing folder', async () => {
    expect(await held(open(), 'a1')).toEqual({});
  });

  it('throws away what another version wrote', async () => {
    await fill(open(), ['a1']);
    expect(await held(open({ stamp: 'v2' }), 'a1')).toEqual({});
    expect(files()).toEqual([]);
  });

  it.each<[string, (content: Buffer) => Buffer, string[]]>([
    ['cut off in the last entry', (content) => content.subarray(0, -5), ['a1', 'b2']],
    ['cut off in the first line', (content) => content.subarray(0, 5), []],
    [
      'with a bit flipped in an entry',
      (content) => flipped(content, content.indexOf('content of b2') + 3),
      ['a1', 'c3'],
    ],
    ['with a length that is none', (content) => replaced(content, 'b2 13', 'b2 xx'), ['a1']],
    ['with a length beyond the end', (content) => replaced(content, 'b2 13', 'b2 99'), ['a1']],
    ['of zeros, as a power cut leaves it', (content) => Buffer.alloc(content.length), []],
    ['empty', () => Buffer.alloc(0), []],
  ])('reads no entry that is damaged from a file %s', async (_name, damage, want) => {
    await fill(open(), ['a1', 'b2', 'c3']);
    const file = path.join(dir, files()[0] ?? '');
    writeFileSync(file, damage(readFileSync(file)));
    const found = await held(open(), 'a1', 'b2', 'c3');
    expect(Object.keys(found)).toEqual(want);
    for (const [key, text] of Object.entries(found)) expect(text).toBe(`content of ${key}`);
    // And is filled again.
    await fill(open(), ['a1', 'b2', 'c3']);
    expect(Object.keys(await held(open(), 'a1', 'b2', 'c3'))).toHaveLength(3);
  });

  it('merges many small files, and loses nothing by it', async () => {
    const cache = open();
    const keys = Array.from({ length: 40 }, (_, index) => `k${index}`);
    for (const key of keys) await fill(cache, [key]);
    expect(files().length).toBeLessThanOrEqual(17);
    expect(Object.keys(await held(open(), ...keys))).toHaveLength(40);
  });

  it.each([
    ['bytes', { maxBytes: 10_000 }],
    ['entries', { maxEntries: 15 }],
  ])('stays within its limit of %s, and keeps what is live', async (_name, limits) => {
    const cache = open(limits);
    const live = ['live1', 'live2'];
    await fill(cache, live, live, 'x'.repeat(400));
    for (let at = 0; at < 60; at++) await fill(cache, [`old${at}`], live, 'y'.repeat(400));
    expect(diskBytes()).toBeLessThan(11_000);
    expect(Object.keys(await held(open(limits), ...live)).sort()).toEqual(live);
    expect(await held(open(limits), 'old0')).toEqual({});
    expect(Object.keys(await held(open(limits), 'old59'))).toEqual(['old59']);
  });

  it('is shared by two that write and merge at the same time', async () => {
    const caches = [open(), open()];
    const keys = Array.from({ length: 60 }, (_, index) => `k${index}`);
    for (const [index, key] of keys.entries()) caches[index % 2]?.add([entry(key)], () => true);
    const reads: Promise<unknown>[] = keys.map((key) => held(open(), key));
    await Promise.all([...caches.map((cache) => cache.flush()), ...reads]);
    const found = await held(open(), ...keys);
    for (const [key, text] of Object.entries(found)) expect(text).toBe(`content of ${key}`);
    expect(Object.keys(found)).toHaveLength(60);
    expect(warnings).toEqual([]);
  });

  it('removes what a killed process left half-written, and not what a living one is writing', async () => {
    await fill(open(), ['a1']);
    writeFileSync(path.join(dir, '0000000009-00000000.seg.999999999.tmp'), 'half');
    writeFileSync(path.join(dir, `0000000009-00000001.seg.${process.ppid}.tmp`), 'half');
    await fill(open(), ['b2']);
    expect(files().filter((name) => name.endsWith('.tmp'))).toEqual([
      `0000000009-00000001.seg.${process.ppid}.tmp`,
    ]);
  });

  it('tells that it cannot write, and goes on', async () => {
    writeFileSync(path.dirname(dir) + '/file', '');
    dir = path.join(path.dirname(dir), 'file', 'parsed');
    await fill(open(), ['a1']);
    expect(warnings).toHaveLength(1);
    expect(await held(open(), 'a1')).toEqual({});
    dir = path.join(path.dirname(path.dirname(dir)), 'parsed');
  });
});

function flipped(content: Buffer, at: number): Buffer {
  const copy = Buffer.from(content);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

function replaced(content: Buffer, from: string, to: string): Buffer {
  return Buffer.from(content.toString('latin1').replace(from, to), 'latin1');
}
