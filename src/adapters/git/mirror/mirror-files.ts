import { rm, stat } from 'node:fs/promises';
import path from 'node:path';

/** The URL that the git program's mirror follows. It is written last, and shows that the mirror is complete. */
export const URL_FILE = 'berth-url';

/**
 * The parts of a mirror, of the git program or in process. The files that show that it is complete come first, so that
 * they are deleted first.
 */
const PARTS = [URL_FILE, 'config', 'objects', 'refs', 'info', 'HEAD', 'packed-refs', 'shallow'] as const;

/** Deletes the mirror, which is only a cache. Other files in the folder stay, such as the lock. */
export async function clearMirror(mirrorDir: string): Promise<void> {
  for (const part of PARTS) await rm(path.join(mirrorDir, part), { recursive: true, force: true });
}

/** False if the mirror was removed. @param part the file to check for; '': the directory itself */
export async function mirrorExists(mirrorDir: string, part: 'HEAD' | '' = 'HEAD'): Promise<boolean> {
  return (await stat(path.join(mirrorDir, part)).catch(() => undefined)) !== undefined;
}
