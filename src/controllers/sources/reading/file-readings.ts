import type { BlobContent, GitRepository } from '@berth/git-reader/repository/git-repository';
import type { TreeFile } from '@berth/git-reader/repository/tree-safety';
import type { ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';
import { fileReading } from '../manifests/assemble-objects.ts';
import type { FileReading } from '../manifests/assemble-objects.ts';
import type { ManifestLimits } from '../manifests/source-content.ts';
import type { ParsePool } from '../parsing/parse-pool.ts';
import type { ParsedFiles } from '../parsing/parsed-files.ts';
import { decodeParsedFile } from '../parsing/parsed-record.ts';
import { SharedParser } from '../parsing/shared-parser.ts';
import type { ParseOutcome } from '../parsing/shared-parser.ts';
import { refusedFile, tooLargeFile } from '../manifests/read-content.ts';

/** A file of a commit. */
export interface FileVersionReading extends FileReading {
  readonly id: string;
  /** Of a kustomization: the folders with everything that it is rendered from. */
  readonly inputFolders?: readonly string[] | undefined;
}

export interface FileReadingTools {
  readonly limits: ManifestLimits;
  /** Absent: nothing is cached. */
  readonly cache?: ParsedFiles | undefined;
  /** Absent: everything is parsed in the main thread. */
  readonly pool?: ParsePool | undefined;
  readonly threadsFromBytes?: number | undefined;
}

type OnFile = (path: string, reading: FileVersionReading) => void;

/** For fewer files, parsing is faster than reading the cache. */
const CACHE_FROM_FILES = 64;

/**
 * Reads and parses files, and calls back for each of them in no particular order.
 * @throws when the repository cannot be read
 */
export async function readFiles(
  repository: GitRepository,
  files: readonly TreeFile[],
  tools: FileReadingTools,
  onFile: OnFile,
): Promise<void> {
  const { cache, limits } = tools;
  const left =
    cache === undefined || files.length < CACHE_FROM_FILES
      ? files
      : await cache.read(files, ({ path, id }, parsed) => onFile(path, { id, ...fileReading(parsed) }));
  const parser = new SharedParser(tools, (file, outcome) => {
    const { path, id } = file;
    if ('record' in outcome) cache?.addRecord(file, outcome.record);
    else if ('parsed' in outcome) cache?.add(file, outcome.parsed);
    onFile(path, { id, ...fileReading(parsedFile(path, outcome)) });
  });
  let index = 0;
  const ids = left.map(({ id }) => id);
  await repository.readBlobs(ids, { maxBytes: limits.maxFileBytes }, (blob) => {
    const file = left[index++];
    if (file === undefined) return;
    if (blob.state === 'read') parser.add(file, blob.bytes);
    else onFile(file.path, { id: file.id, ...fileReading(unreadable(file.path, blob, limits)) });
  });
  await parser.finish();
}

function parsedFile(path: string, outcome: ParseOutcome): ParsedFile {
  if ('parsed' in outcome) return outcome.parsed;
  return 'record' in outcome
    ? decodeParsedFile(path, outcome.record.toString('utf8'))
    : crashed(path, outcome.reason);
}

function unreadable(
  path: string,
  blob: Exclude<BlobContent, { readonly state: 'read' }>,
  limits: ManifestLimits,
): ParsedFile {
  if (blob.state === 'too-large') return tooLargeFile(path, blob.sizeBytes, limits.maxFileBytes);
  return refusedFile(path, {
    code: 'git.missing-blob',
    message: `the repository does not contain the file's content (blob ${blob.id.slice(0, 12)})`,
    hint: 'fetch the repository again, without a partial clone filter',
  });
}

function crashed(path: string, reason: string): ParsedFile {
  return refusedFile(path, {
    code: 'source.parser-crash',
    message: `the parser failed on this file: ${reason}`,
    hint: 'this is a defect in Berth; the file’s last good objects stay',
  });
}

/** Whether the blob was missing in the repository, where it may exist now. */
export function isMissing({ parsed }: FileVersionReading): boolean {
  return parsed.problems.some(({ code }) => code === 'git.missing-blob');
}
