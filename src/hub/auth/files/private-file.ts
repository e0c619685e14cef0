import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectoryNow } from '../../../runtime/files/sync-directory.ts';

/**
 * Writes a secret: readable by the owner alone from its first byte on, complete or not at all, and on the disk when this returns. What is
 * no file but a pipe or a device is written to as it is.
 */
export function writePrivateFile(path: string, content: string | Uint8Array): void {
  // A file put in the place of /dev/stdout or /dev/null would be there for every user, permanently.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) return writeFileSync(path, content);
  const temporary = `${path}.new`;
  // Where others may write, one of them may have put a file or a link there to read along: it goes, or this fails.
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
