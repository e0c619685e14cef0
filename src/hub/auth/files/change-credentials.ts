import { dirname } from 'node:path';
import { BerthError } from '../../../core/errors.ts';
import { lockDirectory } from '../../log/lock-file.ts';
import type { DirectoryLock } from '../../log/lock-file.ts';

/** One change writes and syncs one small file: this many turns are far more than a few processes need. */
const ATTEMPTS = 200;
const WAIT_MS = 10;

/**
 * Runs a change of a credentials file that reads it, and writes it back: one process at a time, so that a token that is issued
 * at the same moment never brings a revoked one back. @throws InputError `hub.data-in-use` when another process never ends
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
