import { open, readFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InputError } from '../../core/errors.ts';
import { syncDirectory } from '../../runtime/files/sync-directory.ts';
import type { LogPosition } from './log-record.ts';
import { checkedJson, encodeLine } from './log-record.ts';

/** A file that the manifest names, without its directory, and what is in it. */
export interface ListedFile extends LogPosition {
  readonly file: string;
  readonly rv: number;
}

export interface ListedSegment extends ListedFile {
  /** As in its first record; '' for a segment of an earlier release. */
  readonly id: string;
}

/**
 * Which files make up the log of one cluster. Without it a log that was deleted looks like one that was never written. All
 * but the last segment are exactly as described; the last one is at least as long: as long as it was when the log was closed, or a
 * minute or a mebibyte before a crash. What it cannot detect: that records after that place are gone, that the directory as a
 * whole is an older copy, or that somebody who may write the files forged them.
 */
export interface Manifest {
  readonly format: 1;
  /** The identity of the log, made with it. */
  readonly log: string;
  /** Oldest first; the last is the one that is written to. */
  readonly segments: readonly ListedSegment[];
  /** Newest first. */
  readonly snapshots: readonly ListedFile[];
}

export function manifestPath(directory: string): string {
  return join(directory, 'manifest.json');
}

/** Undefined when there is none. @throws InputError `hub.data-damaged` */
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

/** Puts a manifest in the place of the one before: complete or not at all, and on the disk when this returns. */
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

/** Something that the hub has written is gone or is not as it was written: to go on would lose acknowledged writes. */
export function dataDamaged(path: string, what: string): InputError {
  return new InputError(what, {
    code: 'hub.data-damaged',
    subject: path,
    hint: 'Restore the data directory from a backup (berth hub restore), or repair the disk and copy the file back.',
  });
}
