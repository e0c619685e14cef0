import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

/** Benches are not part of the build: nothing else notices when a file that they import moves. */
describe('benches', () => {
  it('import files that exist', () => {
    const missing = sourceFiles(['test/bench'], '.mjs').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
        .map(([, path = '']) => sourceOf(join(dirname(file), path)))
        .filter((path) => !existsSync(path))
        .map((path) => `${file}: ${path}`),
    );
    expect(missing).toEqual([]);
  });
});

const MODULES = '.cache/modules/';

/** A bench imports what `npm run build:modules` built. */
function sourceOf(path: string): string {
  return path.startsWith(MODULES) ? path.slice(MODULES.length).replace(/\.js$/, '.ts') : path;
}
