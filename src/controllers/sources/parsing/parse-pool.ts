import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { limitCpuTime } from '@berth/runtime/clock/cpu-time-limit';
import { BugError, TransientError } from '@berth/runtime/errors';
import { builtProgram } from '../../../adapters/program/package-root.ts';
import { type PackedFiles, packFiles, unpackFiles } from './parsed-record.ts';

export interface ParsePoolOptions {
  /** Threads in addition to the main thread. Default: one for each further processor, at most 4. */
  readonly threads?: number | undefined;
  /** Processor time for one batch. A batch that takes longer contains a file that the parser cannot handle. */
  readonly batchTimeoutMs?: number | undefined;
  readonly workerFile?: URL | undefined;
}

/** The result of one file: the record of parsed-record.ts, or why the thread that parsed it ended. */
export type ParseResult =
  | { readonly ok: true; readonly record: Buffer }
  | { readonly ok: false; readonly reason: string };

interface Batch {
  readonly blobs: readonly Buffer[];
  readonly resolve: (results: readonly ParseResult[]) => void;
  readonly reject: (error: unknown) => void;
}

const DEFAULT_BATCH_TIMEOUT_MS = 60_000;
const IDLE_MS = 10_000;
/** More crashes in a row than this are not caused by files. */
const MAX_CRASHES = 8;

/**
 * Parses batches of files in worker threads. If a thread crashes (out of memory, timeout, a bug),
 * the files of its batch are parsed again one by one, and a file that crashes a thread again gets
 * an error. Idle threads end after a while.
 */
export class ParsePool {
  readonly #options: ParsePoolOptions;
  readonly #threads: number;
  readonly #queue: Batch[] = [];
  readonly #workers = new Set<PoolWorker>();
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;
  /** Number of crashed threads since the last response. */
  #crashes = 0;

  constructor(options: ParsePoolOptions = {}) {
    this.#options = options;
    this.#threads = options.threads ?? Math.min(4, Math.max(1, availableParallelism() - 1));
  }

  /** False if the compiled worker is missing, as when Berth runs from its sources. */
  get available(): boolean {
    return this.#workerFile !== undefined;
  }

  /** Number of batches that keep all threads busy. */
  get capacity(): number {
    return 2 * this.#threads;
  }

  /**
   * Returns the results of the files in order. Rejects when the pool is closed or threads cannot
   * start, never because of the content of a file.
   */
  parse(blobs: readonly Buffer[]): Promise<readonly ParseResult[]> {
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

  get #workerFile(): URL | undefined {
    return this.#options.workerFile ?? builtProgram('src/controllers/sources/parsing/parse-worker');
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
    const file = this.#workerFile;
    if (file === undefined)
      throw new BugError('no program for threads', { code: 'parse-pool.unavailable', subject: 'parser' });
    const worker = new PoolWorker(file, this.#options.batchTimeoutMs ?? DEFAULT_BATCH_TIMEOUT_MS);
    this.#workers.add(worker);
    return worker;
  }

  async #run(worker: PoolWorker, batch: Batch): Promise<void> {
    const { blobs, resolve, reject } = batch;
    const outcome = await worker.parse(blobs);
    if ('records' in outcome) {
      this.#crashes = 0;
      resolve(outcome.records.map((record) => ({ ok: true, record })));
    } else {
      this.#crashes += 1;
      if (this.#closed) reject(closed());
      else if (this.#crashes > MAX_CRASHES) reject(keepsCrashing(outcome.reason));
      else if (!outcome.started) this.#queue.unshift(batch);
      else if (blobs.length === 1) resolve([{ ok: false, reason: outcome.reason }]);
      else this.#oneByOne(blobs).then(resolve, reject);
    }
    this.#pump();
  }

  async #oneByOne(blobs: readonly Buffer[]): Promise<readonly ParseResult[]> {
    const results: ParseResult[] = [];
    for (const blob of blobs) results.push(...(await this.parse([blob])));
    return results;
  }
}

function keepsCrashing(reason: string): TransientError {
  return new TransientError(`its threads keep ending: ${reason}`, {
    code: 'fleet.parser',
    subject: 'Parser',
  });
}

function closed(): TransientError {
  return new TransientError('ended while files were parsed', { code: 'fleet.closed', subject: 'Parser' });
}

/** The records of the files, or why the thread ended; `started`: it had received the files. */
type WorkerOutcome =
  | { readonly records: readonly Buffer[] }
  | { readonly reason: string; readonly started: boolean };

/** Parsing a file of 8 MiB needs far less. */
const MAX_HEAP_MB = 512;

/** A parser thread (parse-worker.ts) with its limits. */
class PoolWorker {
  readonly #worker: Worker;
  readonly #limitMs: number;
  busy = false;
  alive = true;
  /** The code is loaded; time and memory used later are caused by the files. */
  #started = false;

  /** @param limitMs limit of processor time for its start, and for each batch */
  constructor(file: URL, limitMs: number) {
    this.#limitMs = limitMs;
    this.#worker = new Worker(file, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      stderr: false,
    });
    this.#worker.once('exit', () => (this.alive = false));
    this.#worker.on('error', () => undefined); // `exit` follows
    this.#worker.unref();
  }

  parse(blobs: readonly Buffer[]): Promise<WorkerOutcome> {
    this.busy = true;
    const worker = this.#worker;
    return new Promise((resolve) => {
      const settle = (outcome: WorkerOutcome): void => {
        endLimit();
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        worker.unref();
        this.busy = false;
        resolve(outcome);
      };
      const fail = (reason: string): void => settle({ reason, started: this.#started });
      const send = (): void => {
        const packed = packFiles(blobs);
        worker.postMessage(packed, [packed.bytes.buffer]);
      };
      const limit = (): (() => void) =>
        limitCpuTime(this.#limitMs, () => {
          this.alive = false;
          void worker.terminate();
          fail(`the parser took longer than ${this.#limitMs} ms`);
        });
      const onMessage = (message: PackedFiles | 'started'): void => {
        if (message !== 'started') return settle({ records: unpackFiles(message) });
        this.#started = true;
        endLimit();
        endLimit = limit();
        send();
      };
      let reason: string | undefined;
      const onError = (error: Error): void => void (reason = error.message);
      const onExit = (code: number): void => fail(reason ?? `the parser's thread ended with ${code}`);
      let endLimit = limit();
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      // A caller waits for the response, so the process must not exit.
      worker.ref();
      if (this.#started) send();
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
