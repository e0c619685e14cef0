import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';

/**
 * The commits where the history of a shallow repository begins. Their parents may be missing.
 * @param file the file `shallow` of the repository; it may be missing
 */
export async function readShallowCommits(file: string): Promise<ReadonlySet<string>> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return new Set(text.split('\n').filter((id) => id !== ''));
}

/** Adds the shallow commits of a remote; earlier ones stay valid for earlier fetches. */
export async function recordShallow(gitDir: string, ids: readonly string[]): Promise<void> {
  const file = join(gitDir, 'shallow');
  const known = await readShallowCommits(file);
  if (ids.every((id) => known.has(id))) return;
  await writeFile(file, [...new Set([...known, ...ids])].map((id) => `${id}\n`).join(''), {
    mode: PRIVATE_FILE_MODE,
  });
}
