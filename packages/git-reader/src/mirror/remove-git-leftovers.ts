import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** Removes the files that a killed git process leaves: lock files, which would block every later fetch, and incomplete packs. */
export async function removeGitLeftovers(mirrorDir: string): Promise<void> {
  const files = await readdir(mirrorDir, { recursive: true }).catch((): string[] => []);
  for (const file of files) {
    const name = path.basename(file);
    if (name.endsWith('.lock') || /^tmp_(pack|idx|obj|rev|mtimes|keep)_/.test(name))
      await rm(path.join(mirrorDir, file), { force: true });
  }
}
