import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Clock } from '@berth/runtime/clock/clock';
import { TransientError } from '@berth/runtime/errors';
import { childProcessGroups, killDescendants } from '@berth/runtime/processes/process-groups';
import type { PlannedRevisions, PlanRevisionsInput } from '../plan-revisions.ts';
import { FrameReader, frameOf } from './frames.ts';
import { SentObjects, SentLists } from './numbered-objects.ts';
import { boundExceeded, type PlanBounds } from './plan-bounds.ts';
import { jobOf } from './plan-job.ts';
import {
  type HubResponse,
  type HubRead,
  type PlannerMessage,
  receivedError,
  sentError,
} from './plan-messages.ts';
import { readFileSync } from 'node:fs';

/** A process that makes no plan for this time is ended. */
const IDLE_MS = 10 * 60_000;
/** A process that uses more than this share of its memory bound is not used again. */
const MAX_MEMORY_SHARE = 0.75;
/** A process that made so many plans is not used again. */
const MAX_PLANS = 200;

const MEMORY_CHECK_INTERVAL_MS = 250;
/** The signals by which a process ends whose heap is full. */
const HEAP_FULL_SIGNALS = ['SIGABRT', 'SIGTRAP', 'SIGILL'];
/** The environment variables that git, kustomize and Node.js need. None has credentials. */
const PASSED_VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'SystemRoot'];
const MIB = 1024 * 1024;

/** A process without a plan. */
interface Idle {
  readonly process: PlanningProcess;
  /** How many plans it made. */
  readonly plans: number;
  readonly cancel: () => void;
}

/**
 * Reuses planning processes. A used process has loaded the program and parsed the files of the base,
 * and has the objects of the hub in memory. A plan of a fork gets a process of its own, so that no
 * data of strangers remains for the next plan. A process ends when a plan exceeds a bound or is
 * stopped.
 */
export class PlanningProcesses {
  readonly #planning: BoundedPlanning;
  readonly #clock: Pick<Clock, 'schedule'>;
  readonly #idle: Idle[] = [];
  #isClosed = false;

  constructor(planning: BoundedPlanning, clock: Pick<Clock, 'schedule'>) {
    this.#planning = planning;
    this.#clock = clock;
  }

  /** @throws InputError `plan.bound.…` when the plan exceeds a bound; the errors of planning */
  async plan(input: PlanRevisionsInput, signal: AbortSignal): Promise<PlannedRevisions> {
    if (input.runsPrograms === false) return planInProcess(input, this.#planning, signal);
    signal.throwIfAborted();
    const { process, plans } = this.#takeIdle() ?? {
      process: await PlanningProcess.start(this.#planning, input.ambient),
      plans: 0,
    };
    try {
      return await process.plan(input, signal);
    } finally {
      await this.#putBack(process, plans + 1);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(
      this.#idle.splice(0).map(({ process, cancel }) => {
        cancel();
        return process.close();
      }),
    );
  }

  #takeIdle(): Idle | undefined {
    for (;;) {
      // The process that was used last has the newest files and objects in memory.
      const idle = this.#idle.pop();
      idle?.cancel();
      if (idle === undefined || idle.process.isAlive) return idle;
    }
  }

  async #putBack(process: PlanningProcess, plans: number): Promise<void> {
    const { memoryMiB } = this.#planning.bounds;
    const isWornOut = plans >= MAX_PLANS || process.residentMiB > memoryMiB * MAX_MEMORY_SHARE;
    if (!process.isAlive) return;
    if (isWornOut || this.#isClosed) return process.close();
    const cancel = this.#clock.schedule(IDLE_MS, () => {
      this.#idle.splice(
        this.#idle.findIndex((one) => one.process === process),
        1,
      );
      void process.close();
    });
    this.#idle.push({ process, plans, cancel });
  }
}

interface BoundedPlanning {
  /** The program that plans: `plan-process.js`. */
  readonly program: URL;
  readonly bounds: PlanBounds;
}

type Outcome = { readonly planned: PlannedRevisions } | { readonly error: Error };

/** The plan in progress. */
interface CurrentPlan {
  readonly hub: KubeApi | undefined;
  readonly headsOf: PlanRevisionsInput['headsOf'];
  readonly trials: PlanRevisionsInput['trials'];
  readonly settle: (outcome: Outcome) => void;
}

type Child = ChildProcess & {
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: NodeJS.ReadableStream;
};

/** A process that makes one plan after the other. It ends when a plan exceeds a bound. */
class PlanningProcess {
  readonly #child: Child;
  readonly #bounds: PlanBounds;
  readonly #env: PlanRevisionsInput['ambient'];
  readonly #frames: FrameReader;
  readonly #sent = new SentObjects();
  readonly #lists = new SentLists();
  /** Resolves when the process has ended and its files are deleted. */
  readonly ended: Promise<void>;
  #current: CurrentPlan | undefined;
  #isOver = false;

  private constructor(
    { program, bounds }: BoundedPlanning,
    env: PlanRevisionsInput['ambient'],
    scratchDir: string,
  ) {
    this.#bounds = bounds;
    this.#env = env;
    this.#frames = new FrameReader(bounds.outputBytes);
    // Half of the objects of a plan live only for a moment.
    const flags = [`--max-old-space-size=${bounds.memoryMiB}`, '--max-semi-space-size=64'];
    this.#child = spawn(process.execPath, [...flags, fileURLToPath(program), String(bounds.outputBytes)], {
      cwd: scratchDir,
      env: { ...env, TMPDIR: scratchDir },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.ended = this.#follow(scratchDir);
  }

  /** @param ambient the environment of this process */
  static async start(
    planning: BoundedPlanning,
    ambient: PlanRevisionsInput['ambient'],
  ): Promise<PlanningProcess> {
    const scratchDir = await mkdtemp(join(tmpdir(), 'berth-plan-'));
    const env = Object.fromEntries(
      PASSED_VARIABLES.flatMap((name) => (ambient[name] === undefined ? [] : [[name, ambient[name]]])),
    );
    return new PlanningProcess(planning, env, scratchDir);
  }

  /** Whether it can make another plan. */
  get isAlive(): boolean {
    return !this.#isOver;
  }

  /** The memory that the process uses now. */
  get residentMiB(): number {
    return residentBytes(this.#child.pid) / MIB;
  }

  /**
   * Makes a plan. Call it only when the previous plan has ended.
   * @throws InputError `plan.bound.…` when the plan exceeds a bound; TransientError when the process
   *   ends without a plan; the errors of planning
   */
  async plan(input: PlanRevisionsInput, signal: AbortSignal): Promise<PlannedRevisions> {
    const { timeMs, memoryMiB } = this.#bounds;
    const onAbort = (): void => this.#stop(signal.reason as Error);
    const deadline = setTimeout(() => this.#stop(boundExceeded('timeMs', this.#bounds)), timeMs);
    const watch = setInterval(() => {
      if (this.residentMiB > memoryMiB * 1.5) this.#stop(boundExceeded('memoryMiB', this.#bounds));
    }, MEMORY_CHECK_INTERVAL_MS);
    try {
      const outcome = await new Promise<Outcome>((settle) => {
        const { hubApi: hub, headsOf, trials } = input;
        this.#current = { hub, headsOf, trials, settle };
        signal.addEventListener('abort', onAbort, { once: true });
        // It may have aborted while the process was started.
        if (signal.aborted) onAbort();
        else if (this.#isOver) settle({ error: this.#exitError() });
        else this.#child.stdin.write(frameOf(jobOf(input, this.#env, this.#sent)));
      });
      if ('planned' in outcome) return outcome.planned;
      throw outcome.error;
    } finally {
      this.#current = undefined;
      clearTimeout(deadline);
      clearInterval(watch);
      signal.removeEventListener('abort', onAbort);
      if (this.#isOver) await this.ended;
    }
  }

  /** Kills the process and all that it started. */
  async close(): Promise<void> {
    this.#kill();
    await this.ended;
  }

  #stop(error: Error): void {
    this.#current?.settle({ error });
    this.#kill();
  }

  #kill(): void {
    this.#isOver = true;
    killDescendants(this.#child.pid);
  }

  async #follow(scratchDir: string): Promise<void> {
    const child = this.#child;
    const untrack = childProcessGroups.track(child.pid);
    child.stdout.on('data', (chunk: Buffer) => {
      const messages = this.#isOver ? [] : this.#frames.push(chunk);
      if (messages === 'too-large') this.#stop(boundExceeded('outputBytes', this.#bounds));
      else for (const message of messages) this.#onMessage(message as PlannerMessage);
    });
    // The process has ended. The event `close` says how.
    child.stdin.on('error', () => undefined);
    await new Promise<void>((resolve) => {
      child.once('error', (error) => this.#current?.settle({ error: notStarted(error) }));
      child.once('close', (code, killedBy) => {
        this.#isOver = true;
        this.#current?.settle({ error: this.#exitError(code, killedBy) });
        resolve();
      });
    });
    untrack();
    await rm(scratchDir, { recursive: true, force: true, maxRetries: 3 });
  }

  #onMessage(message: PlannerMessage): void {
    switch (message.type) {
      case 'read-hub':
        void this.#respond(message.id, message.read);
        return;
      case 'planned':
        this.#current?.settle({ planned: message.planned });
        return;
      case 'failed':
        this.#current?.settle({ error: receivedError(message.error) });
    }
  }

  async #respond(id: number, read: HubRead): Promise<void> {
    const current = this.#current;
    let response: Buffer;
    try {
      const value = await this.#readHub(current, read);
      response = frameOf({ type: 'hub-response', id, value } satisfies HubResponse);
    } catch (error) {
      response = frameOf({ type: 'hub-response', id, error: sentError(error) } satisfies HubResponse);
    }
    if (this.#child.stdin.writable) this.#child.stdin.write(response);
  }

  async #readHub(plan: CurrentPlan | undefined, read: HubRead): Promise<unknown> {
    const hub = plan?.hub;
    if (plan === undefined || hub === undefined) throw new Error('there is no hub');
    switch (read.method) {
      case 'get':
        return hub.get(read.kind, read.key);
      case 'list':
        return this.#lists.pack(read, await hub.list(read.kind, read.options));
      case 'heads':
        return this.#lists.packHeads(read, await plan.headsOf?.(read.kind));
      case 'resolve':
        return hub.resolve(read.apiVersion, read.kind);
      case 'try-apply':
        return plan.trials?.apply(read.tried);
      case 'try-delete':
        return plan.trials?.delete(read.object);
    }
  }

  #exitError(code = this.#child.exitCode, signal = this.#child.signalCode): Error {
    // A shell reports SIGABRT as 134.
    if ((signal !== null && HEAP_FULL_SIGNALS.includes(signal)) || code === 134)
      return boundExceeded('memoryMiB', this.#bounds);
    return new TransientError(`ended without a plan (${signal ?? `exit code ${code}`})`, {
      code: 'plan.process',
      subject: 'The process that plans',
    });
  }
}

function notStarted(cause: Error): TransientError {
  return new TransientError(`cannot be started: ${cause.message}`, {
    code: 'plan.process',
    subject: 'The process that plans',
    cause,
  });
}

/**
 * Plans in a process of its own, so that the content of a repository can neither stop nor slow the
 * controller. A worker thread would not be enough: its limits do not count buffers outside of the
 * heap. The process and all that it started are killed when the plan is complete, when it exceeds a
 * bound, or when `signal` aborts.
 * @throws InputError `plan.bound.…` when the process exceeds a bound; the errors of planning
 */
export async function planInProcess(
  input: PlanRevisionsInput,
  planning: BoundedPlanning,
  signal: AbortSignal,
): Promise<PlannedRevisions> {
  signal.throwIfAborted();
  const process = await PlanningProcess.start(planning, input.ambient);
  try {
    return await process.plan(input, signal);
  } finally {
    await process.close();
  }
}

/** Resident memory of a process in bytes; 0 if the system does not report it. */
function residentBytes(pid: number | undefined): number {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kibibytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
