import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writePrivateFile } from '../../../src/hub/auth/private-file.ts';

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'berth-private-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a secret', () => {
  it('takes the place of a file, for its owner alone', () => {
    const file = join(directory, 'key.pem');
    writeFileSync(file, 'old', { mode: 0o644 });
    writePrivateFile(file, 'new');
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['key.pem']);
  });

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
