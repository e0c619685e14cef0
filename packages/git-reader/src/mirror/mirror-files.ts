import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { GitAuth } from '../repository/git-auth.ts';

/**
 * The URL that the git program's mirror follows. Written last: its presence marks the mirror as
 * complete.
 */
export const URL_FILE = 'berth-url';

/**
 * The files of a mirror, of the git program and in process. First those that mark it as complete.
 */
const PARTS = [URL_FILE, 'config', 'objects', 'refs', 'info', 'HEAD', 'packed-refs', 'shallow'] as const;

export const DEFAULT_FETCH_TIMEOUT_MS = 10 * 60_000;

/** The remote of a mirror, and its limits. */
export interface MirrorOptions {
  readonly url: string;
  /** A directory that only Berth uses. It is created, and deleted when it cannot be used. */
  readonly mirrorDir: string;
  readonly auth?: GitAuth | undefined;
  /** PEM file of the certificate authority to trust instead of the system's. */
  readonly caFile?: string | undefined;
  readonly ambient: Readonly<Record<string, string | undefined>>;
  /** A fetch is stopped after this long. Default: DEFAULT_FETCH_TIMEOUT_MS. */
  readonly fetchTimeoutMs?: number | undefined;
  /** A fetch is stopped when the mirror grows beyond this. */
  readonly maxBytes?: number | undefined;
}

/** Deletes the mirror, which is only a cache. Other files in the folder stay, such as the lock. */
export async function clearMirror(mirrorDir: string): Promise<void> {
  for (const part of PARTS) await rm(path.join(mirrorDir, part), { recursive: true, force: true });
}

/**
 * False when the mirror was removed.
 * @param part the file to check in the directory; '': the directory itself
 */
export async function mirrorExists(mirrorDir: string, part: 'HEAD' | '' = 'HEAD'): Promise<boolean> {
  return (await stat(path.join(mirrorDir, part)).catch(() => undefined)) !== undefined;
}
