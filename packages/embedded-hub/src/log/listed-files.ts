import { rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type DataFile, type DataFiles, findDataFiles } from './data-files.ts';
import type { LogPosition } from './log-record.ts';
import { dataDamaged, type ListedFile, type ListedSegment, type Manifest, manifestPath } from './manifest.ts';
import { readRecords } from './read-records.ts';

/** A file of the log and its manifest entry; undefined for files of an earlier version. */
export interface LogFile extends DataFile {
  readonly listed: ListedFile | undefined;
}

export interface LogSegment extends LogFile {
  readonly listed: ListedSegment | undefined;
  /** Complete: nothing is written to it any more. */
  readonly finished: boolean;
}

export interface LogFiles {
  /** Oldest first. */
  readonly segments: readonly LogSegment[];
  /** Newest first. */
  readonly snapshots: readonly LogFile[];
  /** Files of a compaction or rotation that a crash interrupted; they are not needed. */
  readonly leftover: readonly string[];
}

/** The files of a log without a manifest: one of an earlier version, or a new one. */
export async function filesWithoutManifest(directory: string): Promise<LogFiles> {
  const { segments, snapshots } = await findDataFiles(directory);
  return {
    segments: segments.map((file) => ({ ...file, listed: undefined, finished: false })),
    snapshots: snapshots.map((file) => ({ ...file, listed: undefined })),
    leftover: [],
  };
}

/**
 * The files that the manifest names. Each must exist and have its size; the content is checked when
 * it is read.
 * @throws InputError `hub.data-damaged`, with file and offset
 */
export async function filesOfManifest(directory: string, manifest: Manifest): Promise<LogFiles> {
  const found = await findDataFiles(directory);
  const last = manifest.segments.length - 1;
  const segments: LogSegment[] = [];
  for (const [index, listed] of manifest.segments.entries()) {
    const finished = index < last;
    segments.push({ ...(await requireFile(directory, found.segments, listed, finished)), listed, finished });
  }
  const snapshots: LogFile[] = [];
  for (const listed of manifest.snapshots)
    snapshots.push({ ...(await requireFile(directory, found.snapshots, listed, true)), listed });
  return { segments, snapshots, leftover: await leftovers(found, manifest) };
}

async function requireFile(
  directory: string,
  found: readonly DataFile[],
  listed: ListedFile,
  exact: boolean,
): Promise<DataFile> {
  const file = found.find(({ path }) => basename(path) === listed.file);
  if (file === undefined)
    throw dataDamaged(`${directory}/${listed.file}`, `is missing: ${manifestPath(directory)} names it`);
  const { size } = await stat(file.path);
  if (size >= listed.bytes && !(exact && size > listed.bytes)) return file;
  const expected = `${exact ? '' : 'at least '}${String(listed.bytes)}`;
  throw dataDamaged(
    file.path,
    `ends at byte ${String(size)}, expected ${expected}: acknowledged writes would be lost`,
  );
}

/** @throws InputError when a file that the manifest does not name contains records that nothing else replaces */
async function leftovers(found: DataFiles, manifest: Manifest): Promise<string[]> {
  const named = new Set([...manifest.segments, ...manifest.snapshots].map(({ file }) => file));
  const isUnnamed = ({ path }: DataFile): boolean => !named.has(basename(path));
  const oldest = manifest.segments[0]?.rv ?? 0;
  const leftover = found.snapshots.filter(isUnnamed).map(({ path }) => path);
  for (const segment of found.segments.filter(isUnnamed)) {
    if (segment.rv >= oldest && (await recordsIn(segment.path)) > 0)
      throw dataDamaged(
        segment.path,
        'contains records, but the manifest does not name it: it was copied into the directory, or the manifest is an older one',
      );
    leftover.push(segment.path);
  }
  return leftover;
}

/** The number of change records; an unused segment has none. */
async function recordsIn(path: string): Promise<number> {
  let count = 0;
  await readRecords(path, ({ type }) => {
    if (type !== 'segment') count += 1;
  });
  return count;
}

export async function removeFiles(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true });
}

/** @throws InputError when the records up to the size in the manifest have another digest */
export function requireDigest(path: string, listed: ListedFile, found: LogPosition | undefined): void {
  if (found?.bytes === listed.bytes && found.digest === listed.digest) return;
  const where = `its first ${String(listed.bytes)} bytes`;
  throw dataDamaged(path, `is not the file that the manifest names: ${where} contain other records`);
}
