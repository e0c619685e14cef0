import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Error codes of file systems that cannot sync a directory, which are ignored. */
const UNSUPPORTED = new Set(['EINVAL', 'EPERM', 'ENOTSUP']);

/**
 * Syncs a directory, so that created, renamed and removed files stay so after a power failure.
 * @throws errors of the file system, unless it cannot sync directories at all
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

/** The same, synchronously. */
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
