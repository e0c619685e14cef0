import { open, readFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { syncDirectory } from '@berth/runtime/files/atomic-file';
import { checkedJson, encodeLine, type LogPosition } from './log-record.ts';

/** A manifest entry: name of a file without its directory, and its size and digest. */
export interface ListedFile extends LogPosition {
  readonly file: string;
  readonly rv: number;
}

export interface ListedSegment extends ListedFile {
  /** As in its first record; '' for a segment of an earlier version. */
  readonly id: string;
}

/**
 * Lists the files of the log of one cluster, so that a deleted log differs from one that was never
 * written. All segments except the last have exactly the recorded size; the last one has at least
 * the size that it had when the log was closed, or a minute or a mebibyte before a crash. It cannot
 * detect that later records are missing, that the complete directory is an older copy, or that
 * files were forged.
 */
export interface Manifest {
  readonly format: 1;
  /** The identity of the log, generated when the log is created. */
  readonly log: string;
  /** Oldest first; the last one is written to. */
  readonly segments: readonly ListedSegment[];
  /** Newest first. */
  readonly snapshots: readonly ListedFile[];
}

export function manifestPath(directory: string): string {
  return join(directory, 'manifest.json');
}

/**
 * Undefined when there is none.
 * @throws InputError `hub.data-damaged`
 */
export async function readManifest(directory: string): Promise<Manifest | undefined> {
  const path = manifestPath(directory);
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const json = checkedJson(bytes.subarray(0, bytes.indexOf(0x0a)));
  if (json === undefined) throw dataDamaged(path, 'is damaged: its checksum does not match');
  const manifest = JSON.parse(json.toString('utf8')) as Manifest;
  if (manifest.format !== 1) throw dataDamaged(path, `got format ${String(manifest.format)}, expected 1`);
  return manifest;
}

/** Replaces the manifest atomically, and syncs it. */
export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  const path = manifestPath(directory);
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.appendFile(encodeLine(JSON.stringify(manifest)));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(directory);
}

export function listedFile(path: string, rv: number, { bytes, digest }: LogPosition): ListedFile {
  return { file: basename(path), rv, bytes, digest };
}

/**
 * The error for a missing or changed file of the log: continuing would lose acknowledged writes.
 */
export function dataDamaged(path: string, what: string): InputError {
  return new InputError(what, {
    code: 'hub.data-damaged',
    subject: path,
    hint: 'Restore the data directory from a backup (berth hub restore), or repair the disk and copy the file back.',
  });
}
