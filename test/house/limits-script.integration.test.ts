import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../scripts/limits.mjs');
const LIMITS = 'test/house/limits.json';
const line = 'const a = 1;\n';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-limits-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

const limits = (...args: string[]): string =>
  execFileSync(process.execPath, [SCRIPT, ...args], { cwd: dir, encoding: 'utf8' });

it('lowers what shrank, raises nothing, and follows packages and small files that moved', () => {
  write('src/app/serve.ts', line.repeat(40));
  write('src/core/spine.ts', line.repeat(60));
  write('src/core/new.ts', line);
  write('packages/kube/src/watch/store.ts', line.repeat(3));
  write('packages/hub/src/port.ts', line);
  write('.cache/entered/taint-commit.txt', 'src/app/serve.ts\nsrc/core/spine.ts\n');
  write('.cache/entered/pull-request.txt', 'src/app/serve.ts\n');
  write(
    LIMITS,
    JSON.stringify({
      packages: {
        'src/adapters': { files: 1, lines: 3 },
        'src/app': { files: 1, lines: 30 },
        'src/core': { files: 2, lines: 90, reason: 'takes in the engine' },
      },
      behaviours: { 'taint commit': { files: 9 }, 'pull request': { files: 3 } },
      longFiles: { 'src/app/serve.ts': 'is a table of flags' },
      smallFiles: { 'src/hub/port.ts': 'is a program', 'src/app/serve.ts': 'is a worker' },
      smallFilesToFold: ['src/adapters/store.ts', 'src/app/folded.ts', 'src/app/serve.ts'],
    }),
  );
  const given = readFileSync(join(dir, LIMITS), 'utf8');
  expect(limits().split('\n')).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^src\/app +1 +1 +40 +30 {2}over$/) as string,
      expect.stringMatching(/^src\/core +2 +2 +61 +90$/) as string,
    ]),
  );
  expect(readFileSync(join(dir, LIMITS), 'utf8')).toBe(given);
  limits('--lower');
  expect(JSON.parse(readFileSync(join(dir, LIMITS), 'utf8'))).toEqual({
    packages: {
      everything: { files: 5, lines: 105 },
      'packages/hub': { files: 1, lines: 1 },
      'packages/kube': { files: 1, lines: 3 },
      product: { files: 3, lines: 101 },
      'src/app': { files: 1, lines: 30 },
      'src/core': { files: 2, lines: 61, reason: 'takes in the engine' },
    },
    // Two runs may differ by two files.
    behaviours: { 'pull request': { files: 3 }, 'taint commit': { files: 2 } },
    longFiles: {},
    smallFiles: { 'packages/hub/src/port.ts': 'is a program' },
    smallFilesToFold: ['packages/kube/src/watch/store.ts'],
  });
});
