import { rm, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * The URL that the git program's mirror follows. Written last: its presence marks the mirror as
 * complete.
 */
export const URL_FILE = 'berth-url';

/**
 * The files of a mirror, of the git program and in process. First those that mark it as complete.
 */
const PARTS = [URL_FILE, 'config', 'objects', 'refs', 'info', 'HEAD', 'packed-refs', 'shallow'] as const;

/** Deletes the mirror, which is only a cache. Other files in the folder stay, such as the lock. */
export async function clearMirror(mirrorDir: string): Promise<void> {
  for (const part of PARTS) await rm(path.join(mirrorDir, part), { recursive: true, force: true });
}

/**
 * False when the mirror was removed.
 * @param part the file to check in the directory; '': the directory itself
 */
export async function mirrorExists(mirrorDir: string, part: 'HEAD' | '' = 'HEAD'): Promise<boolean> {
  return (await stat(path.join(mirrorDir, part)).catch(() => undefined)) !== undefined;
}
