import { chmod, lstat, mkdir, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../logger.ts';
import { PRIVATE_DIRECTORY_MODE } from './private-mode.ts';

const OTHERS = 0o077;

/**
 * Creates a data directory, or removes the rights of other users from an existing one: an older
 * version, or another tool, may have left it open. Below a directory that no other user may enter,
 * nothing is checked.
 * @param isOwn whether an entry of the directory is Berth's; other entries keep their modes. A
 * directory with other folders (`/tmp`, a home) stays open, and only Berth's entries are closed
 */
export async function tightenDirectory(
  dataDir: string,
  isOwn: (name: string) => boolean,
  log: Logger,
): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  const directory = await realpath(dataDir);
  if (((await lstat(directory)).mode & OTHERS) === 0) return;
  const entries = await readdir(directory, { withFileTypes: true });
  const foreign = entries.filter(
    (entry) => entry.isDirectory() && !isOwn(entry.name) && entry.name !== 'lost+found',
  );
  const changed = { count: 0 };
  for (const { name } of entries) if (isOwn(name)) await tightenTree(join(directory, name), changed);
  if (foreign.length === 0) await tighten(directory, changed);
  else
    log.warn('the data directory is shared with other folders, and other users may list it', {
      directory,
      folders: foreign.slice(0, 5).map(({ name }) => name),
      hint: 'use a directory that only Berth uses',
    });
  if (changed.count > 0)
    log.warn('other users of this machine could read data; Berth removed their rights', {
      directory,
      entries: changed.count,
    });
}

interface Changed {
  count: number;
}

async function tightenTree(path: string, changed: Changed): Promise<void> {
  // The folder first: then no other user can reach its entries.
  if (!(await tighten(path, changed))) return;
  const entries = await readdir(path).catch((): string[] => []);
  for (const name of entries) await tightenTree(join(path, name), changed);
}

/**
 * @returns whether it is a directory. Entries of other users, and entries that were removed
 * meanwhile, are skipped; links are not followed
 */
async function tighten(path: string, changed: Changed): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || !(found.isDirectory() || found.isFile())) return false;
  if ((found.mode & OTHERS) !== 0)
    await chmod(path, found.mode & ~OTHERS & 0o7777).then(
      () => void (changed.count += 1),
      () => undefined,
    );
  return found.isDirectory();
}
