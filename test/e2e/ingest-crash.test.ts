import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitFixture } from '../../packages/git-reader/test/git-fixture.ts';

const DIST = path.join(import.meta.dirname, '../../.cache/modules/src');
const configMap = (name: string, value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {value: "${value}"}\n`;

/**
 * A process that opens a source, fetches and reads it with a cache on disk, prints what it read, and ends by SIGKILL at the n-th call
 * of the steps that are counted (the first 60, then each fourth): every file that is opened, written, renamed or removed, every process that is started or ends.
 */
const READER = `
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { createHash } from 'node:crypto';
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
const [url, dir, killAt] = process.argv.slice(2);
let steps = 0;
const step = () => { if (++steps === Number(killAt)) process.kill(process.pid, 'SIGKILL'); };
const counted = (holder, name) => {
  const original = holder[name];
  holder[name] = function (...args) {
    step();
    const result = original.apply(this, args);
    if (result instanceof Promise) return result.finally(step);
    if (name === 'spawn') result.once('close', step);
    return result;
  };
};
for (const name of ['writeFile', 'rename', 'rm', 'mkdir', 'readFile', 'readdir']) counted(fsp, name);
counted(childProcess, 'spawn');
syncBuiltinESMExports();
const { openGitSource } = await import(${JSON.stringify(path.join(DIST, 'controllers/sources/reading/git-source.js'))});
const { ParsedCache } = await import(${JSON.stringify(path.join(DIST, 'controllers/sources/parsing/parsed-cache.js'))});
const { ParsePool } = await import(${JSON.stringify(path.join(DIST, 'controllers/sources/parsing/parse-pool.js'))});
const log = { debug() {}, info() {}, warn: console.error, error: console.error, child: () => log };
const cache = new ParsedCache({ dir: dir + '/parsed', log });
const pool = new ParsePool({ threads: 1 });
const source = await openGitSource({ url, mirrorDir: dir + '/m.git', ambient: process.env, ref: { type: 'branch', name: 'main' }, cache, pool });
await source.fetch();
const fleet = await source.read();
const { objects, problems, complete, files } = fleet;
await source.close();
await pool.close();
console.log(JSON.stringify({ steps, complete, files, count: objects.length, digest: createHash('sha256').update(JSON.stringify([objects, problems])).digest('hex') }));
`;

describe('a reader that is killed at each of its steps', () => {
  let fixture: GitFixture;
  let dir: string;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    fixture = new GitFixture();
    dir = mkdtempSync(path.join(tmpdir(), 'berth-crash-'));
    writeFileSync(path.join(dir, 'reader.mjs'), READER);
    fixture.commit({
      ...Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`f${i}.yaml`, configMap(`c${i}`, '1')])),
      'broken.yaml': configMap('was-good', '1'),
    });
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    fixture.remove();
    rmSync(dir, { recursive: true, force: true });
  });

  const read = (data: string, killAt = 0): Promise<{ outcome: unknown; stderr: string }> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [
        path.join(dir, 'reader.mjs'),
        fixture.dir,
        data,
        String(killAt),
      ]);
      children.push(child);
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      child.once('close', (code, signal) => {
        if (signal === 'SIGKILL') resolve({ outcome: 'killed', stderr });
        else if (code === 0) resolve({ outcome: JSON.parse(stdout) as unknown, stderr });
        else reject(new Error(`ended with ${code}: ${stderr}`));
      });
    });
  const withoutSteps = (outcome: unknown) => ({ ...(outcome as object), steps: undefined });

  it('comes to the same in the end, the last good version of a broken file included, and leaves nothing behind', async () => {
    const data = path.join(dir, 'data');
    await read(data);
    fixture.commit({
      ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}.yaml`, configMap(`c${i}`, '2')])),
      'broken.yaml': 'a: [',
      'f149.yaml': null,
    });
    const spared = path.join(dir, 'spared');
    cpSync(data, spared, { recursive: true });
    const want = withoutSteps((await read(spared)).outcome);
    // The object that left Git stays while a file is broken.
    expect(want).toMatchObject({ complete: false, count: 151, files: 150 });
    let killed = 0;
    for (let killAt = 1; ; killAt += killAt < 60 ? 1 : 4) {
      const { outcome } = await read(data, killAt);
      if (outcome !== 'killed') break;
      killed += 1;
      // Every third time a whole run follows, so that later kills meet a mirror that is up to date, too.
      if (killed % 3 === 0) {
        const { outcome: after } = await read(data);
        expect(withoutSteps(after)).toEqual(want);
        if (killed % 6 === 0) rmSync(path.join(data, 'parsed'), { recursive: true, force: true });
      }
    }
    expect(killed).toBeGreaterThan(20);
    expect(withoutSteps((await read(data)).outcome)).toEqual(want);
    const left = readdirSync(data, { recursive: true }).map(String);
    expect(left.filter((name) => /\.lock$|tmp_|\.tmp$/.test(name))).toEqual([]);
    expect(existsSync(path.join(data, 'm.git/berth-lock'))).toBe(false);
  });
});
