import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** The errors of file systems that cannot sync a directory. Nothing more can be done there. */
const UNSUPPORTED = new Set(['EINVAL', 'EPERM', 'ENOTSUP']);

/**
 * Resolves when the entries of the directory are on disk: a file that was created, renamed or removed stays so after a
 * power failure.
 * @throws the errors of the file system, unless it cannot sync directories at all
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

/** The synchronous version, for callers that must not yield in between. */
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
