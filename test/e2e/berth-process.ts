import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../../dist/src/app/cli/main.js');
/** What `docker stop` and others give a process before they kill it. */
const GRACE_SECONDS = 10;

export interface BerthEnd {
  readonly code: number | null;
  /** SIGKILL: it did not end by itself in time. */
  readonly signal: string | null;
}

/** A `berth` command of the build, as a process of its own. */
export class BerthProcess {
  readonly child: ChildProcess;
  #text = '';
  readonly ended: Promise<BerthEnd>;

  /** @param program what Node.js runs instead of `berth` */
  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}, program = MAIN) {
    this.child = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#text += chunk.toString()));
    this.ended = new Promise((resolve) =>
      this.child.once('close', (code, signal) => resolve({ code, signal })),
    );
  }

  /** What it wrote so far. */
  get text(): string {
    return this.#text;
  }

  /** As `docker stop` does: SIGTERM, and SIGKILL when that was not enough. */
  async stop(): Promise<BerthEnd> {
    // A program of the system keeps the time: a test is no judge of how fast a machine is.
    const grace = spawn('sleep', [String(GRACE_SECONDS)], { stdio: 'ignore' });
    grace.once('exit', () => this.child.kill('SIGKILL'));
    this.child.kill('SIGTERM');
    const end = await this.ended;
    grace.removeAllListeners('exit');
    grace.kill();
    return end;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}
