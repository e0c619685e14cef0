// How large the source is: files and lines of each package. Used by limits.mjs and by the tests that hold test/house/limits.json.
import { existsSync, readFileSync, readdirSync } from 'node:fs';

/** A file of fewer filled lines needs a reason. */
export const SMALL_LINES = 25;
/** A package of tests only. */
const TEST_KIT = 'test-kit';

/**
 * @typedef {object} SourceFile
 * @property {string} path from the root of the repository
 * @property {number} lines all of them, as `wc -l` counts
 * @property {number} filled those that are not empty
 */

/** @returns {SourceFile[]} of src, plugin and packages, in the order of their paths */
export function sourceSizes() {
  const packages = existsSync('packages') ? foldersIn('packages').filter((name) => name !== TEST_KIT).map((name) => `packages/${name}/src`) : [];
  return ['src', 'plugin', ...packages]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.includes('node_modules/'))
        .map((name) => sizeOf(`${folder}/${name}`)),
    )
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function sizeOf(path) {
  const lines = readFileSync(path, 'utf8').split('\n');
  return { path, lines: lines.length - 1, filled: lines.filter((line) => line.trim() !== '').length };
}

function foldersIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

/** @returns {string} the package that a source file belongs to: `packages/NAME`, a room of src such as `src/app`, or `plugin` */
export function packageOf(path) {
  const [first, second] = path.split('/');
  return first === 'plugin' || !path.includes('/', first.length + 1) ? first : `${first}/${second}`;
}

/**
 * @param {readonly SourceFile[]} files
 * @returns {Record<string, {files: number, lines: number}>} by package; `product` is src and plugin, `everything` also the packages
 */
export function packageSizes(files) {
  const sizes = {};
  for (const { path, lines } of files) {
    const totals = path.startsWith('packages/') ? ['everything'] : ['everything', 'product'];
    for (const name of [packageOf(path), ...totals]) {
      const size = (sizes[name] ??= { files: 0, lines: 0 });
      size.files += 1;
      size.lines += lines;
    }
  }
  return Object.fromEntries(Object.entries(sizes).sort(([a], [b]) => (a < b ? -1 : 1)));
}
