import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '@berth/runtime/errors';

const TEST_FILE = /\.(?:placement|rule)-test\.ya?ml$/;

/**
 * The test files below the given folders, and the given files themselves, sorted.
 * @throws InputError if a path does not exist
 */
export async function findTestFiles(roots: readonly string[], cwd: string): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const root of roots) {
    const full = path.resolve(cwd, root);
    const info = await stat(full).catch((cause: unknown) => {
      throw new InputError('cannot be read, expected a folder or file', {
        code: 'test.not-found',
        subject: root,
        cause,
      });
    });
    if (info.isFile()) found.add(full);
    else await collect(full, found);
  }
  return [...found].toSorted();
}

/** Symbolic links are not followed; neither does Berth follow them when it reads a fleet. */
async function collect(folder: string, found: Set<string>): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules')
      await collect(full, found);
    else if (entry.isFile() && TEST_FILE.test(entry.name)) found.add(full);
  }
}
