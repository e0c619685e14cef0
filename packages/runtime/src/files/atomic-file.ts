import { closeSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Logger } from '../logger.ts';
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from './private-mode.ts';

/**
 * Replaces the content of a file so that a reader, or a crash, sees either the old or the new content. After a power
 * failure, the old content may return until the directory is synced. Only the owner may access the file, and its
 * directory if it is created here.
 */
export async function writeFileAtomic(file: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const handle = await withDirectory(dirname(file), () => open(temporary, 'w', PRIVATE_FILE_MODE));
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Removes temporary files of processes that were killed while they replaced the file. Only for the
 * process that writes the file.
 */
export function removeTemporaryFiles(file: string): void {
  const begin = `${basename(file)}.`;
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(begin) && /^\d+\.tmp$/.test(name.slice(begin.length)))
      rmSync(join(dirname(file), name), { force: true });
}

/**
 * Calls `write`, which creates a file in the directory. If the directory is missing, it is created
 * with access for the owner alone, and `write` is called once more.
 * @throws errors of the file system
 */
export async function withDirectory<T>(directory: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    return write();
  }
}

/** Error codes of file systems that cannot sync a directory, which are ignored. */
const UNSUPPORTED = new Set(['EINVAL', 'EPERM', 'ENOTSUP']);

/**
 * Syncs a directory, so that created, renamed and removed files stay so after a power failure.
 * @throws errors of the file system, unless it cannot sync directories at all
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } catch (error) {
    requireSupported(error);
  } finally {
    await handle.close();
  }
}

/** The same, synchronously. */
export function syncDirectoryNow(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } catch (error) {
    requireSupported(error);
  } finally {
    closeSync(handle);
  }
}

function requireSupported(error: unknown): void {
  if (!UNSUPPORTED.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
}

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
