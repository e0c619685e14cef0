import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  removeTemporaryFiles,
  syncDirectory,
  tightenDirectory,
  writeFileAtomic,
} from '@berth/runtime/files/atomic-file';
import type { Logger } from '@berth/runtime/logger';
import {
  CREDENTIAL_KEYS,
  type CredentialFiles,
  type CredentialKey,
  type CredentialStore,
} from './credential-store.ts';

/** The pending changes, written before the first file. */
const PENDING = '.credentials-to-write.json';

/**
 * Stores credentials in the files of a folder that only their owner may read, as OCM's agent does. A write stores
 * all changes in one file first: after a crash in the middle, the next read completes it, so that certificate and key always match.
 */
export class FolderStore implements CredentialStore {
  readonly folder: string;
  readonly #log: Logger;
  #prepared: Promise<void> | undefined;
  /** The last write. The next one waits for it, because both use the file of pending changes. */
  #written: Promise<void> = Promise.resolve();

  constructor(folder: string, log: Logger) {
    this.folder = resolve(folder);
    this.#log = log;
  }

  get place(): string {
    return this.folder;
  }

  async read(): Promise<CredentialFiles> {
    await this.#prepare();
    const found = await Promise.all(
      CREDENTIAL_KEYS.map(async (key) => [key, await this.#content(key)] as const),
    );
    return Object.fromEntries(found.filter(([, content]) => content !== undefined));
  }

  write(changes: { readonly [Key in CredentialKey]?: string | undefined }): Promise<void> {
    const write = this.#written.then(() => this.#writeAll(changes));
    this.#written = write.catch(() => undefined);
    return write;
  }

  async #writeAll(changes: { readonly [Key in CredentialKey]?: string | undefined }): Promise<void> {
    await this.#prepare();
    const pending = Object.entries(changes).map(([key, content]) => [key, content ?? null]);
    await writeFileAtomic(join(this.folder, PENDING), JSON.stringify(Object.fromEntries(pending)));
    await syncDirectory(this.folder);
    await this.#complete();
  }

  #prepare(): Promise<void> {
    this.#prepared ??= this.#open().catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  async #open(): Promise<void> {
    await tightenDirectory(this.folder, (name) => OWN.has(name), this.#log);
    for (const name of OWN) removeTemporaryFiles(join(this.folder, name));
    await this.#complete();
  }

  async #complete(): Promise<void> {
    const pending = await this.#content(PENDING);
    if (pending === undefined) return;
    const changes = JSON.parse(pending) as Readonly<Record<string, string | null>>;
    for (const [key, content] of Object.entries(changes)) {
      const file = join(this.folder, key);
      if (content === null) await rm(file, { force: true });
      else await writeFileAtomic(file, content);
    }
    await syncDirectory(this.folder);
    await rm(join(this.folder, PENDING), { force: true });
  }

  async #content(name: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.folder, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}

const OWN: ReadonlySet<string> = new Set([...CREDENTIAL_KEYS, PENDING]);
