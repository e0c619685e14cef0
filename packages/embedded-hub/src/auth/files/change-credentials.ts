import { dirname } from 'node:path';
import { BerthError } from '@berth/runtime/errors';
import { lockDirectory } from '../../log/lock-file.ts';
import type { DirectoryLock } from '../../log/lock-file.ts';

/**
 * How often a process tries to get the lock: each change writes one small file, so a few processes
 * need far fewer attempts.
 */
const ATTEMPTS = 200;
const WAIT_MS = 10;

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
