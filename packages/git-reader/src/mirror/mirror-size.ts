import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

const CHECK_EVERY_MS = 1_000;

/** Calls `tooLarge` once when the directory grows beyond `maxBytes`. The returned function ends the watch. */
export function watchSize(directory: string, maxBytes: number, tooLarge: () => void): () => void {
  let checking = false;
  const timer = setInterval(() => {
    if (checking) return;
    checking = true;
    directoryBytes(directory)
      .then((bytes) => {
        if (bytes > maxBytes) tooLarge();
      })
      .catch(() => undefined) // a file vanished meanwhile: the next check measures again
      .finally(() => {
        checking = false;
      });
  }, CHECK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * The size of the packs in bytes, including incomplete ones. Fetches keep packs (fetch.unpackLimit 1), so nothing else
 * grows.
 */
export async function directoryBytes(gitDir: string): Promise<number> {
  const packs = path.join(gitDir, 'objects', 'pack');
  const names = await readdir(packs).catch((): string[] => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(path.join(packs, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

export async function countPacks(gitDir: string): Promise<number> {
  const names = await readdir(path.join(gitDir, 'objects', 'pack')).catch((): string[] => []);
  return names.filter((name) => name.endsWith('.pack')).length;
}
