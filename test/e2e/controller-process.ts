import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';

const MAIN = join(import.meta.dirname, '../../dist/src/app/cli/main.js');

/** The built `berth serve` as a process of its own, with a data directory of its own. */
export class ControllerProcess {
  readonly data = mkdtempSync(join(tmpdir(), 'berth-serve-'));
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;
  /** What it logged since it was started last. */
  log = '';

  /** @param args of `berth serve`, but for --data and --listen */
  constructor(args: readonly string[]) {
    this.#args = args;
    this.start();
  }

  start(): void {
    this.log = '';
    const own = ['--data', this.data, '--listen', '127.0.0.1:0'];
    this.#child = spawn(process.execPath, [MAIN, 'serve', ...own, ...this.#args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.log += chunk.toString()));
  }

  get runs(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Its exit code, or the signal that ended it. */
  async ended(): Promise<number | NodeJS.Signals | null> {
    const child = this.#child;
    if (child === undefined) return null;
    if (child.exitCode === null && child.signalCode === null)
      await new Promise((resolve) => child.once('exit', resolve));
    return child.exitCode ?? child.signalCode;
  }

  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    this.signal(signal);
    return this.ended();
  }

  /** Where it listens; undefined while it does not. */
  get url(): string | undefined {
    return /"listen":"([^"]+)"/.exec(this.log)?.[1];
  }

  /** What /readyz says: the status, and the text. */
  async readyz(): Promise<string> {
    if (this.url === undefined) return 'not listening yet';
    const response = await fetch(`${this.url}/readyz`).catch(() => undefined);
    return response === undefined ? 'no answer' : `${response.status} ${await response.text()}`;
  }

  /** Waits until it is ready in this role; the identity of the leader that it names, when it stands by. */
  async whenReady(role: 'leading' | 'standby'): Promise<string> {
    await expect.poll(() => this.readyz()).toMatch(new RegExp(`^200 ok\n${role}`));
    return /standby: (\S+) leads/.exec(await this.readyz())?.[1] ?? '';
  }

  async remove(): Promise<void> {
    this.signal('SIGCONT');
    await this.end('SIGKILL');
    rmSync(this.data, { recursive: true, force: true });
  }
}
