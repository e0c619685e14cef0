import { sha256 } from '@berth/runtime/sha256';
import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeFileAtomic } from '@berth/runtime/files/atomic-file';
import { syncDirectory } from '@berth/runtime/files/sync-directory';

/**
 * Stores over restarts which commit a source followed last, so that it can be used while the remote
 * is unavailable, or offers only a refused commit. A commit from other settings (URL, ref, signers)
 * is ignored.
 */
export class LastFollowedCommit {
  readonly #file: string;
  readonly #settings: string;
  #stored: string | undefined;

  constructor(file: string, settings: unknown) {
    this.#file = file;
    this.#settings = sha256(JSON.stringify(settings));
  }

  async load(): Promise<string | undefined> {
    const text = await readFile(this.#file, 'utf8').catch(() => '');
    const [settings, commit] = text.trim().split(' ');
    return settings === this.#settings ? commit : undefined;
  }

  /** Forgets what was stored. Called when the file was removed, so that the next call of `store` writes it. */
  fileRemoved(): void {
    this.#stored = undefined;
  }

  /** Resolves when the commit is on disk. If it cannot be written, an older commit is removed as well. */
  async store(commit: string): Promise<void> {
    if (this.#stored === commit) return;
    this.#stored = commit;
    const directory = dirname(this.#file);
    try {
      await writeFileAtomic(this.#file, `${this.#settings} ${commit}\n`);
      await syncDirectory(directory);
    } catch {
      this.#stored = undefined;
      await rm(this.#file, { force: true });
      await syncDirectory(directory).catch(() => undefined);
    }
  }
}
