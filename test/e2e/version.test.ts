import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'dist/src/app/cli/main.js');
const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as Record<string, string>;

it('the built command prints its version and commit, also through a link as npm makes it', () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-link-'));
  try {
    const link = join(dir, 'berth');
    symlinkSync(MAIN, link);
    const want = `berth ${read('package.json')['version']}, commit ${read('dist/build.json')['commit']}\n`;
    for (const program of [MAIN, link])
      expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toBe(want);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
