import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { InputError } from '@berth/runtime/errors';
import { PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import { sleep } from '@berth/runtime/loop/sleep';
import type { ArgoProgram } from '../../../../core/argocd/local-argocd.ts';

interface RunOptions {
  readonly fileOf: (program: ArgoProgram) => string;
  /** For the logs. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** Called once all programs are ready. */
  readonly onReady: () => void;
}

const CHECK_INTERVAL_MS = 200;
/** After it a program that does not end by itself is killed. */
const END_MS = 4_000;
const LAST_CHARACTERS = 1_500;

/**
 * Runs programs until the signal: each is started when the one before it is ready, and all end at once.
 * @throws InputError with its last words for a program that ends before that; the others are ended, too
 */
export async function runPrograms(programs: readonly ArgoProgram[], options: RunOptions): Promise<void> {
  const { say, signal, onReady } = options;
  const stop = new AbortController();
  const running: RunningProgram[] = [];
  const ended: Promise<string>[] = [];
  const until = AbortSignal.any([signal, stop.signal]);
  try {
    for (const program of programs) {
      if (until.aborted) break;
      const started = new RunningProgram(program, options);
      running.push(started);
      ended.push(started.ended.finally(() => stop.abort()));
      await waitUntilReady(program, until);
      if (!until.aborted) say(`${program.name} runs, log ${started.log}`);
    }
    if (!until.aborted) {
      onReady();
      await once(until, 'abort');
    }
    if (signal.aborted) return;
    throw new InputError(await Promise.race(ended), {
      code: 'argocd.ended',
      subject: 'Argo CD',
      hint: 'correct what it says and run the command again; Argo CD 3.6 was tried',
    });
  } finally {
    await Promise.all(running.map((one) => one.stop()));
  }
}

class RunningProgram {
  readonly log: string;
  /** With a text about its end. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;

  constructor(program: ArgoProgram, { fileOf, folder, env }: RunOptions) {
    this.log = path.join(folder, `${program.name}.log`);
    const log = openSync(this.log, 'w', PRIVATE_FILE_MODE);
    // A group of its own: Ctrl-C reaches only this process, which ends the programs in order.
    const options = { env: { ...env, ...program.env }, detached: true, stdio: ['ignore', log, log] as const };
    this.#child = spawn(fileOf(program), program.args, { ...options, stdio: [...options.stdio] });
    closeSync(log);
    this.ended = new Promise((resolve) => {
      this.#child.once('error', ({ message }) => resolve(`${program.name} does not start: ${message}`));
      this.#child.once('exit', (code, signal) => {
        const words = readFileSync(this.log, 'utf8').slice(-LAST_CHARACTERS).trimEnd();
        const how = signal ?? `exit code ${String(code)}`;
        resolve(`${program.name} ended with ${how}; the end of ${this.log}:\n${words}\n`);
      });
    });
  }

  async stop(): Promise<void> {
    if (!this.#child.kill('SIGTERM')) return;
    const forced = setTimeout(() => void this.#child.kill('SIGKILL'), END_MS);
    await this.ended;
    clearTimeout(forced);
  }
}

async function waitUntilReady({ readyUrl }: ArgoProgram, signal: AbortSignal): Promise<void> {
  if (readyUrl === undefined) return;
  const isReady = async (): Promise<boolean> => {
    try {
      return (await fetch(readyUrl, { signal })).ok;
    } catch {
      // It does not listen yet.
      return false;
    }
  };
  while (!signal.aborted && !(await isReady())) await sleep(systemClock, CHECK_INTERVAL_MS, signal);
}

/** Ports of the loopback address that nothing listens on now. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
