import { Worker } from 'node:worker_threads';

/** Longer than the bound on one input: what takes this long does not end at all. */
const HANG_MS = 30_000;
const POLL_MS = 500;
const HEADER_BYTES = 8;

/** Runs in a thread of its own, which an endless loop in the main thread does not stop. */
const WATCH = `
const { workerData } = require('node:worker_threads');
const { writeFileSync } = require('node:fs');
const { shared, file, hangMs, pollMs, headerBytes } = workerData;
const header = new Int32Array(shared, 0, 2);
const bytes = new Uint8Array(shared, headerBytes);
let last = -1, sinceMs = Date.now();
setInterval(() => {
  const now = Atomics.load(header, 0);
  if (now !== last || now === 0) { last = now; sinceMs = Date.now(); return; }
  if (Date.now() - sinceMs < hangMs) return;
  writeFileSync(file, bytes.slice(0, Atomics.load(header, 1)));
  process.stderr.write('an input did not end within ' + hangMs + ' ms: it is in ' + file + '\\n');
  process.kill(process.pid, 'SIGKILL');
}, pollMs);
`;

/** Ends the process when one input never ends, and leaves that input in a file. */
export class HangWatch {
  readonly #bytes: Uint8Array;
  readonly #header: Int32Array;
  readonly #worker: Worker;
  #count = 0;

  constructor(file: string, maxBytes: number) {
    const shared = new SharedArrayBuffer(HEADER_BYTES + maxBytes);
    this.#header = new Int32Array(shared, 0, 2);
    this.#bytes = new Uint8Array(shared, HEADER_BYTES);
    const workerData = { shared, file, hangMs: HANG_MS, pollMs: POLL_MS, headerBytes: HEADER_BYTES };
    this.#worker = new Worker(WATCH, { eval: true, workerData });
    this.#worker.unref();
  }

  begin(input: Uint8Array): void {
    this.#bytes.set(input);
    Atomics.store(this.#header, 1, input.length);
    this.#count = (this.#count % 0x7fff_fffe) + 1;
    Atomics.store(this.#header, 0, this.#count);
  }

  /** Nothing runs: the time that passes now does not count. */
  pause(): void {
    Atomics.store(this.#header, 0, 0);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
