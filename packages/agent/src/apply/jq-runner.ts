import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { limitCpuTime } from '@berth/runtime/clock/cpu-time-limit';
import { InputError } from '@berth/runtime/errors';
import { parseExactIntegers } from '@berth/runtime/json/exact-json';
import { jsonText } from '@berth/runtime/json/json-equal';

/**
 * Processor time that one expression may use, in milliseconds. Source: OCM's agent, which has the same limit for
 * elapsed time.
 */
const TIME_LIMIT_MS = 1_000;
/** Also processor time. Loading the module (1.3 MB of WebAssembly) does not count for the expression. */
const START_LIMIT_MS = 10_000;

/** Plain JavaScript, so that it also runs if the sources are not compiled. */
const WORKER_CODE = `
const { parentPort, workerData } = require('node:worker_threads');
require(workerData).loadJq().then((jq) => {
  parentPort.on('message', ({ id, json, program }) => {
    const { stdout, stderr, exitCode } = jq.raw(json, program, ['-c']);
    parentPort.postMessage({ id, stdout, stderr, exitCode });
  });
  parentPort.postMessage({ id: 0 });
});
`;

interface JqOutput {
  readonly id: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/**
 * Runs jq programs in a separate thread, because WebAssembly cannot be interrupted, but a thread can be terminated.
 * Programs run one at a time. The thread starts with the first program and is reused. It is started again after a
 * program that took too long.
 */
export class JqRunner {
  readonly #start: () => Promise<Worker>;
  #worker: Promise<Worker> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #nextId = 1;

  /** @param start creates a thread that is ready for programs */
  constructor(start: () => Promise<Worker> = startWorker) {
    this.#start = start;
  }

  /**
   * @returns every value that the program returned
   * @throws InputError when the program is invalid or too slow
   */
  run(value: unknown, program: string): Promise<readonly unknown[]> {
    const result = this.#last.then(() => this.#runNow(value, program));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await (await worker?.catch(() => undefined))?.terminate();
  }

  async #runNow(value: unknown, program: string): Promise<readonly unknown[]> {
    this.#worker ??= this.#start().catch((error: unknown) => {
      // On a busy machine the start may have taken too long, so the next program tries again.
      this.#worker = undefined;
      throw error;
    });
    const worker = await this.#worker;
    const id = this.#nextId++;
    worker.postMessage({ id, json: jsonText(value), program });
    let output: JqOutput;
    try {
      output = await waitForOutput(worker, id, TIME_LIMIT_MS);
    } catch (error) {
      await this.close();
      throw jqError(program, error instanceof Error ? error.message : String(error));
    }
    if (output.exitCode !== 0) throw jqError(program, output.stderr.trim());
    return output.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => parseExactIntegers(line));
  }
}

async function startWorker(): Promise<Worker> {
  const workerData = createRequire(import.meta.url).resolve('jq-wasm');
  const worker = new Worker(WORKER_CODE, { eval: true, workerData, env: {}, stdin: false });
  try {
    await waitForOutput(worker, 0, START_LIMIT_MS);
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  // An idle thread must not keep the process alive.
  worker.unref();
  return worker;
}

function waitForOutput(worker: Worker, id: number, limitMs: number): Promise<JqOutput> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      endLimit();
      worker.off('message', onMessage);
      worker.off('error', onError);
      settle();
    };
    const onMessage = (output: JqOutput): void => {
      if (output.id === id) finish(() => resolve(output));
    };
    const onError = (error: unknown): void =>
      finish(() => reject(error instanceof Error ? error : new Error(String(error))));
    // Uses the machine's clock and not the agent's, because it limits processor time.
    const endLimit = limitCpuTime(limitMs, () => onError(new Error(`took longer than ${limitMs} ms`)));
    worker.on('message', onMessage);
    worker.on('error', onError);
  });
}

function jqError(program: string, problem: string): InputError {
  return new InputError(problem === '' ? 'failed' : problem, {
    code: 'agent.jq',
    subject: `jq program ${program}`,
  });
}
