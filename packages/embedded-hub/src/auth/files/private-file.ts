import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectoryNow } from '@berth/runtime/files/sync-directory';

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
