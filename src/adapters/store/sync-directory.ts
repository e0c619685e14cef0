import { open } from 'node:fs/promises';

/** What file systems say that cannot sync a directory: there is nothing more to be done there. */
const UNSUPPORTED = new Set(['EINVAL', 'EPERM', 'ENOTSUP']);

/**
 * Resolves when the names in the directory are on the disk: a file that was made, renamed or removed there stays so after a power cut.
 * @throws what the file system throws, unless it only says that it cannot do this
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!UNSUPPORTED.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    await handle.close();
  }
}
