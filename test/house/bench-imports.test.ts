import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sourceFiles } from './source-files.ts';

/** Benches are not part of the build: nothing else notices when a file that they import moves. */
describe('benches', () => {
  it('import files that exist', () => {
    const missing = sourceFiles(['test/bench'], '.mjs').flatMap((file) =>
      importsIn(file)
        .filter((path) => !existsSync(path))
        .map((path) => `${file}: ${path}`),
    );
    expect(missing).toEqual([]);
  });
});

/** Of its own imports, and of those that it loads from a folder of built modules. */
function importsIn(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  const own = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)];
  const loaded = [...text.matchAll(/(?:load|new URL)\('((?!\.)[^']+\.js)'/g)];
  return [
    ...own.map(([, path = '']) => sourceOf(join(dirname(file), path))),
    ...loaded.map(([, path = '']) => sourceOf(`${MODULES}${path}`)),
  ];
}

const MODULES = '.cache/modules/';

/** A bench imports what `npm run build:modules` built. */
function sourceOf(path: string): string {
  return path.startsWith(MODULES) ? path.slice(MODULES.length).replace(/\.js$/, '.ts') : path;
}
