import { setImmediate } from 'node:timers/promises';
import type { BlobContent, GitRepository } from '@berth/git-reader/repository/git-repository';
import type { TreeFile } from '@berth/git-reader/repository/tree-safety';
import { asNamed, type ParsedFile } from '../../../adapters/yaml/parse-manifests.ts';
import { refusedFile, tooLargeFile, readContent } from '../manifests/read-content.ts';
import { fileReading, type FileReading } from '../manifests/assemble-objects.ts';
import type { ManifestLimits } from '../manifests/source-content.ts';
import type { ParsePool } from '../parsing/parse-pool.ts';
import type { ParsedFiles } from '../parsing/parsed-cache.ts';
import { decodeParsedFile } from '../parsing/parsed-record.ts';

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
      : await cache.read(files, ({ path, id }, parsed) =>
          onFile(path, { id, ...fileReading(asNamed(path, parsed)) }),
        );
  const parser = new SharedParser(tools, (file, outcome) => {
    const { path, id } = file;
    if ('record' in outcome) cache?.addRecord(file, outcome.record);
    else if ('parsed' in outcome) cache?.add(file, outcome.parsed);
    onFile(path, { id, ...fileReading(asNamed(path, parsedFile(path, outcome))) });
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

/**
 * `record`: parsed by a thread, still encoded; `parsed`: parsed in the main thread; `reason`: why the thread that parsed
 * the file crashed.
 */
type ParseOutcome =
  | { readonly record: Buffer }
  | { readonly parsed: ParsedFile }
  | { readonly reason: string };

type Batch = { readonly file: TreeFile; readonly bytes: Buffer }[];

/**
 * The first bytes, up to this number, are parsed in this thread. A worker thread needs a quarter of
 * a second to start, and its results are encoded as JSON and decoded again; with two processors it
 * pays off only after 50 to 100 MB (test/bench/ingest.bench.mjs `--threshold`).
 */
const THREADS_FROM_BYTES = 48 * 1024 ** 2;

/** Files in one batch; small enough to keep all threads busy until the end. */
const BATCH_FILES = 128;

const BATCH_BYTES = 512 * 1024;

/** With more batches in memory, the main thread parses before it reads more files. */
const MAX_WAITING = 64;

/**
 * Parses files in this thread and in worker threads. Few files are parsed here immediately. Of many
 * files the threads take the oldest batches, and this thread takes the newest when all files have
 * been read.
 */
class SharedParser {
  readonly #pool: ParsePool | undefined;
  readonly #threadsFromBytes: number;
  readonly #onFile: (file: TreeFile, outcome: ParseOutcome) => void;
  readonly #waiting: Batch[] = [];
  readonly #pending = new Set<Promise<void>>();
  #batch: Batch = [];
  #batchBytes = 0;
  #bytes = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(
    tools: { readonly pool?: ParsePool | undefined; readonly threadsFromBytes?: number | undefined },
    onFile: (file: TreeFile, outcome: ParseOutcome) => void,
  ) {
    this.#pool = tools.pool?.available === true ? tools.pool : undefined;
    this.#threadsFromBytes = tools.threadsFromBytes ?? THREADS_FROM_BYTES;
    this.#onFile = onFile;
  }

  add(file: TreeFile, bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#pool === undefined || this.#bytes <= this.#threadsFromBytes) {
      this.#onFile(file, { parsed: readContent(file.path, bytes) });
      return;
    }
    this.#batch.push({ file, bytes });
    this.#batchBytes += bytes.length;
    if (this.#batch.length >= BATCH_FILES || this.#batchBytes >= BATCH_BYTES) this.#close();
    if (this.#waiting.length > MAX_WAITING) this.#parseHere();
  }

  /** Resolves when every file has its result. Rejects if the pool was closed meanwhile. */
  async finish(): Promise<void> {
    this.#close();
    while (this.#waiting.length > 0) {
      this.#parseHere();
      // Yields, so that results of the threads arrive, and the threads get new batches.
      await setImmediate();
    }
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #close(): void {
    if (this.#batch.length > 0) this.#waiting.push(this.#batch);
    this.#batch = [];
    this.#batchBytes = 0;
    this.#feed();
  }

  #feed(): void {
    const pool = this.#pool;
    while (pool !== undefined && this.#pending.size < pool.capacity) {
      const batch = this.#waiting.shift();
      if (batch === undefined) return;
      const submitted: Promise<void> = this.#submit(pool, batch).finally(() => {
        this.#pending.delete(submitted);
        this.#feed();
      });
      this.#pending.add(submitted);
    }
  }

  async #submit(pool: ParsePool, batch: Batch): Promise<void> {
    try {
      const results = await pool.parse(batch.map(({ bytes }) => bytes));
      batch.forEach(({ file }, index) => {
        const result = results[index];
        this.#onFile(
          file,
          result?.ok === true ? result : { reason: result?.reason ?? 'the parser returned no result' },
        );
      });
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #parseHere(): void {
    for (const { file, bytes } of this.#waiting.pop() ?? [])
      this.#onFile(file, { parsed: readContent(file.path, bytes) });
  }
}
