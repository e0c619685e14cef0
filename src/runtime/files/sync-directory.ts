import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** What file systems report that cannot sync a directory: there is nothing more to be done there. */
const UNSUPPORTED = new Set(['EINVAL', 'EPERM', 'ENOTSUP']);

/**
 * Resolves when the names in the directory are on the disk: a file that was made, renamed or removed there stays so after a power cut.
 * @throws what the file system reports, unless it cannot sync directories at all
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } catch (error) {
    requireSupported(error);
  } finally {
    await handle.close();
  }
}

/** The same, for callers that must not give way in between. */
export function syncDirectoryNow(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } catch (error) {
    requireSupported(error);
  } finally {
    closeSync(handle);
  }
}

function requireSupported(error: unknown): void {
  if (!UNSUPPORTED.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
}
