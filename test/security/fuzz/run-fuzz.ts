import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { seeded } from '@berth/test-kit/seeded-random';
import type { FuzzTarget } from './fuzz-target.ts';
import { bytesOf } from './fuzz-target.ts';
import { HangWatch } from './hang-watch.ts';
import { mutateInput } from './mutate-input.ts';
import { OutcomeMap } from './outcome-map.ts';

export interface FuzzOptions {
  readonly name: string;
  readonly inputs: number;
  readonly seed: number;
  /** Where an input that broke something is written. */
  readonly directory: string;
  /** Ends earlier when this much time has passed. */
  readonly maxMs?: number;
}

export interface FuzzReport {
  readonly inputs: number;
  readonly outcomes: number;
  readonly seconds: number;
  /** Processor time of the process during the slowest input. */
  readonly slowestMs: number;
  /** Heap after a collection, when a quarter of the inputs had run and at the end. */
  readonly heapBytes: readonly [number, number];
}

/** No input may take longer: a request that does stops everybody else. */
const SLOW_MS = 1_000;
const MAX_INPUT_BYTES = 16 * 1024;
/** Inputs with an outcome of their own; a random one makes room for the next. */
const CORPUS_LIMIT = 2_000;
/** Caches that fill up to their limits are no leak. */
const HEAP_GROWTH_BYTES = 24 * 1024 * 1024;

/**
 * Sends `inputs` random inputs at the target. The same seed makes the same inputs.
 * @throws Error that names the file with the input, when the target throws, takes over a second or its heap grows
 */
export async function runFuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzReport> {
  const fuzzer = new Fuzzer(target, options);
  try {
    return await fuzzer.run();
  } finally {
    await fuzzer.close();
  }
}

class Fuzzer {
  readonly #target: FuzzTarget;
  readonly #options: FuzzOptions;
  readonly #random: () => number;
  readonly #corpus: Uint8Array[];
  readonly #dictionary: readonly Uint8Array[];
  readonly #outcomes = new OutcomeMap();
  readonly #watch: HangWatch;
  #slowestMs = 0;

  constructor(target: FuzzTarget, options: FuzzOptions) {
    this.#target = target;
    this.#options = options;
    this.#random = seeded(options.seed);
    this.#corpus = [...target.seeds];
    this.#dictionary = target.dictionary.map(bytesOf);
    mkdirSync(options.directory, { recursive: true });
    this.#watch = new HangWatch(this.#file('hang'), MAX_INPUT_BYTES);
  }

  async run(): Promise<FuzzReport> {
    const { inputs, maxMs = Infinity } = this.#options;
    const startedMs = performance.now();
    let heapBefore = 0;
    let done = 0;
    for (; done < inputs && performance.now() - startedMs < maxMs; done += 1) {
      const input = done < this.#target.seeds.length ? this.#corpus[done] : this.#next();
      await this.#try(input as Uint8Array);
      if (done === Math.floor(inputs / 4)) heapBefore = this.#heapAfterCollection();
    }
    const heapAfter = this.#heapAfterCollection();
    if (heapBefore > 0 && heapAfter - heapBefore > HEAP_GROWTH_BYTES)
      throw new Error(`${this.#options.name}: the heap grew from ${heapBefore} to ${heapAfter} bytes`);
    return {
      inputs: done,
      outcomes: this.#outcomes.size,
      seconds: (performance.now() - startedMs) / 1000,
      slowestMs: this.#slowestMs,
      heapBytes: [heapBefore, heapAfter],
    };
  }

  async close(): Promise<void> {
    await this.#watch.close();
  }

  #next(): Uint8Array {
    const any = (): Uint8Array =>
      this.#corpus[Math.floor(this.#random() * this.#corpus.length)] as Uint8Array;
    return mutateInput(any(), {
      random: this.#random,
      dictionary: this.#dictionary,
      other: any,
      maxBytes: MAX_INPUT_BYTES,
    });
  }

  async #try(input: Uint8Array): Promise<void> {
    this.#watch.begin(input);
    const before = process.cpuUsage();
    const startedMs = performance.now();
    let outcome: string | Promise<string>;
    try {
      outcome = this.#target.run(input);
      if (typeof outcome !== 'string') outcome = await outcome;
    } catch (error) {
      throw new Error(`${this.#options.name}: an input broke a promise: ${this.#save('broken', input)}`, {
        cause: error,
      });
    }
    const wallMs = performance.now() - startedMs;
    if (wallMs > this.#slowestMs) this.#measure(input, wallMs, process.cpuUsage(before));
    this.#keep(input, outcome);
  }

  /** Processor time decides: a machine that is busy with something else makes every input slow. */
  #measure(input: Uint8Array, wallMs: number, used: NodeJS.CpuUsage): void {
    const tookMs = Math.min(wallMs, (used.user + used.system) / 1000);
    if (tookMs <= this.#slowestMs) return;
    this.#slowestMs = tookMs;
    if (tookMs > SLOW_MS)
      throw new Error(
        `${this.#options.name}: an input took ${Math.round(tookMs)} ms: ${this.#save('slow', input)}`,
      );
  }

  #keep(input: Uint8Array, outcome: string): void {
    if (!this.#outcomes.add(outcome)) return;
    if (this.#corpus.length < CORPUS_LIMIT) this.#corpus.push(Uint8Array.from(input));
    else this.#corpus[Math.floor(this.#random() * CORPUS_LIMIT)] = Uint8Array.from(input);
  }

  #heapAfterCollection(): number {
    this.#watch.pause();
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
    return process.memoryUsage().heapUsed;
  }

  #save(what: string, input: Uint8Array): string {
    const file = this.#file(what);
    writeFileSync(file, input);
    return file;
  }

  #file(what: string): string {
    return join(this.#options.directory, `${this.#options.name}-${this.#options.seed}-${what}.bin`);
  }
}
