import { open, rename, rm } from 'node:fs/promises';

/** Replaces a file's content so that a reader, or a crash, sees the old content or the new one, never a mixture. */
export async function writeFileAtomic(file: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, 'w');
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
