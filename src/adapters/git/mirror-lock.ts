import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '../../core/errors.ts';

const LOCK_FILE = 'berth-lock';

/**
 * Takes the mirror for this process; the returned function gives it back. A lock of a process that is gone, or of an
 * earlier life under our own id (containers restart as process 1), counts as free. InputError `git.mirror-in-use`.
 */
export async function lockMirror(mirrorDir: string): Promise<() => Promise<void>> {
  const file = path.join(mirrorDir, LOCK_FILE);
  for (let attempt = 0; ; attempt++) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 2) throw error;
      const owner = Number(await readFile(file, 'utf8').catch(() => ''));
      if (OPEN.has(path.resolve(mirrorDir)) || isAnotherLivingProcess(owner))
        throw new InputError(`is in use by process ${owner}, expected a mirror of our own`, {
          code: 'git.mirror-in-use',
          subject: `Git mirror ${mirrorDir}`,
          hint: 'give each process a data directory of its own, or stop the other one',
        });
      await rm(file, { force: true });
    }
  }
  OPEN.add(path.resolve(mirrorDir));
  return async () => {
    OPEN.delete(path.resolve(mirrorDir));
    await rm(file, { force: true });
  };
}

/** Mirrors that this very process has open. */
const OPEN = new Set<string>();

function isAnotherLivingProcess(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Removes what a killed git leaves behind: lock files, which would block every later fetch, and half-written packs. */
export async function removeLeftovers(mirrorDir: string): Promise<void> {
  const files = await readdir(mirrorDir, { recursive: true }).catch((): string[] => []);
  for (const file of files) {
    const name = path.basename(file);
    if (name.endsWith('.lock') || /^tmp_(pack|idx|obj|rev|mtimes|keep)_/.test(name))
      await rm(path.join(mirrorDir, file), { force: true });
  }
}
