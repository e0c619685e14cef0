import { Worker } from 'node:worker_threads';
import { limitCpuTime } from '@berth/runtime/clock/cpu-time-limit';
import { packFiles, unpackFiles } from './packed-files.ts';
import type { PackedFiles } from './packed-files.ts';

/** Parsing a file of 8 MiB needs far less. */
const MAX_HEAP_MB = 512;

/** The records of the files, or why the thread ended; `started`: it had received the files. */
export type WorkerOutcome =
  | { readonly records: readonly Buffer[] }
  | { readonly reason: string; readonly started: boolean };

/** A parser thread (parse-worker.ts) with its limits. */
export class PoolWorker {
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
