import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { TransientError } from '../../core/errors.ts';
import { pack, unpack } from './packed-files.ts';
import type { PackedFiles } from './packed-files.ts';

export interface ParsePoolOptions {
  /** Threads besides our own. Default: one for each further processor, at most 4. */
  readonly threads?: number | undefined;
  /** A batch that takes longer has met a file that the parser cannot cope with. */
  readonly batchTimeoutMs?: number | undefined;
  readonly workerFile?: URL | undefined;
}

/** One file's outcome: the record of parsed-record.ts, or why the thread that parsed it is gone. */
export type ParseAnswer =
  | { readonly ok: true; readonly record: Buffer }
  | { readonly ok: false; readonly reason: string };

interface Batch {
  readonly blobs: readonly Buffer[];
  readonly resolve: (answers: readonly ParseAnswer[]) => void;
  readonly reject: (error: unknown) => void;
}

const DEFAULT_BATCH_TIMEOUT_MS = 60_000;
const IDLE_MS = 10_000;
/** A file of 8 MiB stays far below it. */
const MAX_HEAP_MB = 512;
/** More deaths in a row than this are not the files' fault. */
const MAX_DEATHS = 8;

/**
 * Parses batches of files in worker threads. A thread that dies (out of memory, too slow, a defect) takes down nothing else: the
 * files of its batch are parsed again one by one, and the one it dies of again is answered for with a reason. Threads end
 * when there was nothing to do for a while.
 */
export class ParsePool {
  readonly #options: ParsePoolOptions;
  readonly #threads: number;
  readonly #queue: Batch[] = [];
  readonly #workers = new Set<PoolWorker>();
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;
  /** Threads that died one after the other, without an answer in between. */
  #deaths = 0;

  constructor(options: ParsePoolOptions = {}) {
    this.#options = options;
    this.#threads = options.threads ?? Math.min(4, Math.max(1, availableParallelism() - 1));
  }

  /** False where the worker's code is not beside us: when Berth runs from its sources. */
  get available(): boolean {
    return existsSync(this.#workerFile);
  }

  /** Batches that keep all threads busy. */
  get capacity(): number {
    return 2 * this.#threads;
  }

  /**
   * Answers for each file in order. Rejects when the pool is closed or its threads cannot live, never for
   * what a file holds or does.
   */
  parse(blobs: readonly Buffer[]): Promise<readonly ParseAnswer[]> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(closed());
      this.#queue.push({ blobs, resolve, reject });
      this.#pump();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#queue.splice(0)) reject(closed());
    await this.#stopWorkers();
  }

  async #stopWorkers(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const workers = [...this.#workers];
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.stop()));
  }

  get #workerFile(): URL {
    return this.#options.workerFile ?? new URL('./parse-worker.js', import.meta.url);
  }

  #pump(): void {
    clearTimeout(this.#idleTimer);
    while (this.#queue.length > 0) {
      const worker = this.#idleWorker();
      if (worker === undefined) return;
      const batch = this.#queue.shift();
      if (batch !== undefined) void this.#run(worker, batch);
    }
    if ([...this.#workers].some((worker) => worker.busy)) return;
    this.#idleTimer = setTimeout(() => void this.#stopWorkers(), IDLE_MS).unref();
  }

  #idleWorker(): PoolWorker | undefined {
    for (const worker of this.#workers) if (!worker.alive) this.#workers.delete(worker);
    const idle = [...this.#workers].find((worker) => !worker.busy);
    if (idle !== undefined || this.#workers.size >= this.#threads) return idle;
    return this.#addWorker();
  }

  #addWorker(): PoolWorker {
    const worker = new PoolWorker(this.#workerFile, this.#options.batchTimeoutMs ?? DEFAULT_BATCH_TIMEOUT_MS);
    this.#workers.add(worker);
    return worker;
  }

  async #run(worker: PoolWorker, { blobs, resolve, reject }: Batch): Promise<void> {
    const outcome = await worker.parse(blobs);
    this.#deaths = typeof outcome === 'string' ? this.#deaths + 1 : 0;
    if (typeof outcome !== 'string') resolve(outcome.map((record) => ({ ok: true, record })));
    else if (this.#closed) reject(closed());
    else if (this.#deaths > MAX_DEATHS) reject(dying(outcome));
    else if (blobs.length === 1) resolve([{ ok: false, reason: outcome }]);
    else this.#oneByOne(blobs).then(resolve, reject);
    this.#pump();
  }

  async #oneByOne(blobs: readonly Buffer[]): Promise<readonly ParseAnswer[]> {
    const answers: ParseAnswer[] = [];
    for (const blob of blobs) answers.push(...(await this.parse([blob])));
    return answers;
  }
}

function dying(reason: string): TransientError {
  return new TransientError(`its threads end again and again: ${reason}`, {
    code: 'fleet.parser',
    subject: 'Parser',
  });
}

function closed(): TransientError {
  return new TransientError('ended while files were parsed', { code: 'fleet.closed', subject: 'Parser' });
}

class PoolWorker {
  readonly #worker: Worker;
  readonly #timeoutMs: number;
  busy = false;
  alive = true;

  constructor(file: URL, timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#worker = new Worker(file, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      stderr: false,
    });
    this.#worker.once('exit', () => (this.alive = false));
    this.#worker.on('error', () => undefined); // `exit` follows
    this.#worker.unref();
  }

  /** The records, or why the thread is gone. */
  parse(blobs: readonly Buffer[]): Promise<readonly Buffer[] | string> {
    this.busy = true;
    const worker = this.#worker;
    return new Promise((resolve) => {
      const settle = (outcome: readonly Buffer[] | string): void => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        worker.unref();
        this.busy = false;
        resolve(outcome);
      };
      const onMessage = (records: PackedFiles): void => settle(unpack(records));
      let reason: string | undefined;
      const onError = (error: Error): void => void (reason = error.message);
      const onExit = (code: number): void => settle(reason ?? `the parser's thread ended with ${code}`);
      const timer = setTimeout(() => {
        this.alive = false;
        void worker.terminate();
        settle(`the parser took longer than ${this.#timeoutMs} ms`);
      }, this.#timeoutMs);
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      // Somebody waits for the answer: the process must not end before it.
      worker.ref();
      const packed = pack(blobs);
      worker.postMessage(packed, [packed.bytes.buffer]);
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
