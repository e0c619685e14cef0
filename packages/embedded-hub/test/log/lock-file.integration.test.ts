import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directoryInUse, lockDirectory } from '../../src/log/lock-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'berth-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('the lock of a data directory', () => {
  it('has one owner at a time and leaves nothing behind', () => {
    const lock = lockDirectory(directory);
    expect(directoryInUse(directory)).toBe(true);
    expect(() => lockDirectory(directory)).toThrow(`process ${String(process.pid)} owns it`);
    lock.release();
    expect(readdirSync(directory)).toEqual([]);
    lockDirectory(directory).release();
  });

  const deadPid = (): number => spawnSync('true').pid;
  const ownLock = (): Record<string, unknown> => {
    const lock = lockDirectory(directory);
    const text = readFileSync(join(directory, 'lock'), 'utf8');
    lock.release();
    return JSON.parse(text) as Record<string, unknown>;
  };

  it.each([
    ['of a killed process', () => JSON.stringify({ ...ownLock(), pid: deadPid() })],
    ['whose process id was given to another process', () => JSON.stringify({ ...ownLock(), startedAt: '1' })],
    ['of an earlier boot', () => JSON.stringify({ ...ownLock(), bootId: 'other' })],
    ['that was never written whole', () => '{"pid":'],
  ])('takes over a lock %s', (_name, text) => {
    writeFileSync(join(directory, 'lock'), text());
    const lock = lockDirectory(directory);
    expect(directoryInUse(directory)).toBe(true);
    lock.release();
  });
});
