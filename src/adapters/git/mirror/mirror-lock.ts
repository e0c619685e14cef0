import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '../../../core/errors.ts';
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '../../../runtime/files/private-mode.ts';

const LOCK_FILE = 'berth-lock';

/**
 * Locks the mirror for this process; the returned function unlocks it. A lock of a process that has ended (even if another one has
 * its id now), or of an earlier life under our own id (containers restart as process 1), counts as free. InputError `git.mirror-in-use`.
 */
export async function lockMirror(mirrorDir: string): Promise<() => Promise<void>> {
  const file = path.join(mirrorDir, LOCK_FILE);
  for (let attempt = 0; ; attempt++) {
    try {
      await writeFile(file, `${process.pid} ${(await lifeOf(process.pid))?.birth ?? ''}`, {
        flag: 'wx',
        mode: PRIVATE_FILE_MODE,
      });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 2) throw error;
      const [pid = '', ...birth] = (await readFile(file, 'utf8').catch(() => '')).trim().split(' ');
      const owner = { pid: Number(pid), birth: birth.join(' ') };
      if (OPEN.has(path.resolve(mirrorDir)) || (await isAnotherLivingProcess(owner)))
        throw new InputError(`is in use by process ${owner.pid}, expected a mirror of our own`, {
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

/** Makes the directory when it is missing, and takes it for this process; see `lockMirror`. */
export async function takeDirectory(mirrorDir: string): Promise<() => Promise<void>> {
  await mkdir(mirrorDir, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  return lockMirror(mirrorDir);
}

/** Mirrors that this very process has open. */
const OPEN = new Set<string>();

async function isAnotherLivingProcess({ pid, birth }: { pid: number; birth: string }): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  // Somebody lives under that id; after a restart of the machine it may be anybody.
  const found = await lifeOf(pid);
  if (found === undefined) return true;
  return !found.isOver && (birth === '' || found.birth === birth);
}

interface Life {
  /** Clock ticks since the start of the machine, and which start that was. */
  readonly birth: string;
  /** It was killed, and its parent has not read its exit status: a zombie, which may stay forever. */
  readonly isOver: boolean;
}

/** Undefined where the system does not say (no Linux). */
async function lifeOf(pid: number): Promise<Life | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    // The name in parentheses may hold blanks; the state is the 3rd field, the first after it, and the time the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { birth: `${fields[19] ?? ''} ${boot.trim()}`, isOver: 'ZX'.includes(fields[0] ?? '?') };
  } catch {
    return undefined;
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
