import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Of tests only. */
const TEST_KIT = 'packages/test-kit';
const packages = readdirSync('packages')
  .map((name) => `packages/${name}`)
  .filter((folder) => folder !== TEST_KIT);

/** The folders with the sources of the product and of its packages. */
export const SOURCES: readonly string[] = ['src', 'plugin', ...packages.map((name) => `${name}/src`)];

/** The folders with tests. */
export const TESTS: readonly string[] = ['test', TEST_KIT, ...packages.map((name) => `${name}/test`)].filter(
  (folder) => existsSync(folder),
);

/** The files of the folders that end like this, as paths from the root of the repository. */
export function sourceFiles(folders: readonly string[], ends: string): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => file.endsWith(ends)),
  );
}
