import { readdirSync, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PRIVATE_FILE_MODE } from '../../runtime/files/private-mode.ts';
import { withDirectory } from './with-directory.ts';

/**
 * Replaces a file's content so that a reader, or a crash, sees the old content or the new one, never a mixture. A power cut may bring the
 * old one back until the directory was synced. The file is the owner's alone, and so is its directory where that has to be made.
 */
export async function writeFileAtomic(file: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const handle = await withDirectory(dirname(file), () => open(temporary, 'w', PRIVATE_FILE_MODE));
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Removes temporary files of processes that were killed while they replaced the file. Only for the
 * process that writes the file.
 */
export function removeTemporaryFiles(file: string): void {
  const begin = `${basename(file)}.`;
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(begin) && /^\d+\.tmp$/.test(name.slice(begin.length)))
      rmSync(join(dirname(file), name), { force: true });
}
