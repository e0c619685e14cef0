import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import type { GitAuth } from '../repository/git-auth.ts';

const LOCK_FILE = 'berth-lock';

/**
 * Locks the mirror for this process. The lock of a process that has ended is taken over, even if another process has its process id
 * now. A lock with the id of this process that this process did not take is also taken over: a process in a restarted container often
 * has the same id again.
 * @returns unlocks the mirror
 * @throws InputError `git.mirror-in-use`
 */
export async function lockMirror(mirrorDir: string): Promise<() => Promise<void>> {
  const file = path.join(mirrorDir, LOCK_FILE);
  for (let attempt = 0; ; attempt++) {
    try {
      await writeFile(file, `${process.pid} ${(await readProcessState(process.pid))?.startedAt ?? ''}`, {
        flag: 'wx',
        mode: PRIVATE_FILE_MODE,
      });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 2) throw error;
      const [pid = '', ...startedAt] = (await readFile(file, 'utf8').catch(() => '')).trim().split(' ');
      const owner = { pid: Number(pid), startedAt: startedAt.join(' ') };
      if (LOCKED_HERE.has(path.resolve(mirrorDir)) || (await isAnotherLivingProcess(owner)))
        throw new InputError(
          `is in use by process ${owner.pid}, expected a mirror that no other process uses`,
          {
            code: 'git.mirror-in-use',
            subject: `Git mirror ${mirrorDir}`,
            hint: 'give each process a data directory of its own, or stop the other one',
          },
        );
      await rm(file, { force: true });
    }
  }
  LOCKED_HERE.add(path.resolve(mirrorDir));
  return async () => {
    LOCKED_HERE.delete(path.resolve(mirrorDir));
    await rm(file, { force: true });
  };
}

/** Creates the directory of the mirror if it is missing, and locks the mirror; see `lockMirror`. */
export async function lockMirrorDirectory(mirrorDir: string): Promise<() => Promise<void>> {
  await mkdir(mirrorDir, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  return lockMirror(mirrorDir);
}

/** Absolute paths of the mirrors that this process has locked. */
const LOCKED_HERE = new Set<string>();

async function isAnotherLivingProcess({
  pid,
  startedAt,
}: {
  pid: number;
  startedAt: string;
}): Promise<boolean> {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  // A process with that id exists. It may be another one than the owner of the lock: compare the start times.
  const found = await readProcessState(pid);
  if (found === undefined) return true;
  return !found.hasExited && (startedAt === '' || found.startedAt === startedAt);
}

interface ProcessState {
  /** Start time of the process in clock ticks since the machine booted, and the boot id. */
  readonly startedAt: string;
  /** The process has exited, and its parent has not read its exit status: a zombie, which may stay forever. */
  readonly hasExited: boolean;
}

/** Reads the start time and state of a process from /proc; undefined when there is none, or the system is not Linux. */
async function readProcessState(pid: number): Promise<ProcessState | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    // The name in parentheses may contain spaces; the state is the 3rd field, directly after it,
    // and the start time the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { startedAt: `${fields[19] ?? ''} ${boot.trim()}`, hasExited: 'ZX'.includes(fields[0] ?? '?') };
  } catch {
    return undefined;
  }
}

/**
 * The URL that the git program's mirror follows. Written last: its presence marks the mirror as
 * complete.
 */
export const URL_FILE = 'berth-url';

/**
 * The files of a mirror, of the git program and in process. First those that mark it as complete.
 */
const PARTS = [URL_FILE, 'config', 'objects', 'refs', 'info', 'HEAD', 'packed-refs', 'shallow'] as const;

export const DEFAULT_FETCH_TIMEOUT_MS = 10 * 60_000;

/** The remote of a mirror, and its limits. */
export interface MirrorOptions {
  readonly url: string;
  /** A directory that only Berth uses. It is created, and deleted when it cannot be used. */
  readonly mirrorDir: string;
  readonly auth?: GitAuth | undefined;
  /** PEM file of the certificate authority to trust instead of the system's. */
  readonly caFile?: string | undefined;
  readonly ambient: Readonly<Record<string, string | undefined>>;
  /** A fetch is stopped after this long. Default: DEFAULT_FETCH_TIMEOUT_MS. */
  readonly fetchTimeoutMs?: number | undefined;
  /** A fetch is stopped when the mirror grows beyond this. */
  readonly maxBytes?: number | undefined;
}

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
