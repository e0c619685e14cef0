import {
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  readFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { errorText, InputError, BerthError } from '@berth/runtime/errors';
import { syncDirectoryNow } from '@berth/runtime/files/atomic-file';
import { lockDirectory, type DirectoryLock } from '../../log/lock-file.ts';

/**
 * How often a process tries to get the lock: each change writes one small file, so a few processes
 * need far fewer attempts.
 */
const ATTEMPTS = 200;
const WAIT_MS = 10;

/**
 * Writes a secret atomically to a file that only its owner can read, and syncs it. Pipes and
 * devices are written to directly.
 */
export function writePrivateFile(path: string, content: string | Uint8Array): void {
  // A rename would replace /dev/stdout or /dev/null by a file for all users.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) return writeFileSync(path, content);
  const temporary = `${path}.new`;
  // In a directory that others can write to, another user may have created the file or a link to
  // read the secret: it is removed, or the write fails.
  rmSync(temporary, { force: true });
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncDirectoryNow(dirname(path));
}

/**
 * The text of a file that a flag of the hub names.
 * @param code of the error
 * @throws InputError when it cannot be read
 */
export function readFlagFile(code: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw wrongFile(code, file, `cannot be read: ${errorText(error)}`);
  }
}

/** @param where the file, perhaps with the line */
export function wrongFile(code: string, where: string, problem: string): InputError {
  return new InputError(problem, { code, subject: where });
}

/**
 * Runs a change that reads a credentials file and writes it back, one process at a time, so that
 * issuing a token cannot restore one that is revoked at the same moment.
 * @throws InputError `hub.data-in-use` when another process keeps the lock
 */
export function changeCredentials<T>(file: string, change: () => T): T {
  const lock = lockWhenFree(dirname(file));
  try {
    return change();
  } finally {
    lock.release();
  }
}

function lockWhenFree(directory: string): DirectoryLock {
  for (let attempt = 1; ; attempt += 1)
    try {
      return lockDirectory(directory, 'credentials.lock');
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof BerthError)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
}
