import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writePrivateFile } from '../../../src/auth/files/private-file.ts';

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'berth-private-'))));
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(directory, { recursive: true, force: true });
});

/** Calls back when a directory is synced, and lets it be synced. */
function whenDirectoriesAreSynced(then: () => void): void {
  const { fsyncSync } = fs;
  vi.spyOn(fs, 'fsyncSync').mockImplementation((handle) => {
    if (fs.fstatSync(handle).isDirectory()) then();
    fsyncSync(handle);
  });
  syncBuiltinESMExports();
}

describe('a secret', () => {
  it('takes the place of a file, for its owner alone', () => {
    const file = join(directory, 'key.pem');
    writeFileSync(file, 'old', { mode: 0o644 });
    writePrivateFile(file, 'new');
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['key.pem']);
  });

  it('is on the disk under its name', () => {
    const file = join(directory, 'tokens.json');
    writeFileSync(file, 'revoked');
    const synced: string[] = [];
    whenDirectoriesAreSynced(() => synced.push(readFileSync(file, 'utf8')));
    writePrivateFile(file, 'new');
    expect(synced).toEqual(['new']);
  });

  it.each([
    { code: 'EINVAL', passes: true },
    { code: 'EPERM', passes: true },
    { code: 'ENOTSUP', passes: true },
    { code: 'EIO', passes: false },
  ])(
    'reports a disk that fails it with $code, unless it just cannot do more: $passes',
    ({ code, passes }) => {
      whenDirectoriesAreSynced(() => {
        throw Object.assign(new Error(code), { code });
      });
      const write = (): void => writePrivateFile(join(directory, 'key.pem'), 'new');
      if (passes) expect(write).not.toThrow();
      else expect(write).toThrow(code);
    },
  );

  it('goes into a pipe, which stays one', async () => {
    const pipe = join(directory, 'pipe');
    const out = join(directory, 'out');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('sh', ['-c', 'cat "$0" > "$1"', pipe, out]);
    writePrivateFile(pipe, 'new');
    await once(reader, 'exit');
    expect(readFileSync(out, 'utf8')).toBe('new');
    expect(statSync(pipe).isFIFO()).toBe(true);
  });
});
