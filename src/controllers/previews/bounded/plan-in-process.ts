import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TransientError } from '../../../core/errors.ts';
import { namespacedName } from '../../../core/model/object-ref.ts';
import type { KubeApi } from '../../../core/ports.ts';
import { childProcessGroups } from '../../../runtime/child-process-groups.ts';
import { killDescendants } from '../../../runtime/kill-descendants.ts';
import { residentBytes } from '../../../runtime/resident-bytes.ts';
import type { PlannedRevisions, PlanRevisionsInput } from '../plan-revisions.ts';
import { FrameReader, frameOf } from './frames.ts';
import { boundExceeded, type PlanBounds } from './plan-bounds.ts';
import {
  type HubRead,
  type PlanJob,
  type PlannerMessage,
  receivedError,
  sentError,
} from './plan-messages.ts';

const LOOK_MS = 250;
/** Signals that end a process whose heap is full. */
const HEAP_FULL = ['SIGABRT', 'SIGTRAP', 'SIGILL'];
/** The environment variables that git, kustomize and Node.js need. Credentials are not among them. */
const PASSED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'SystemRoot'];

export interface BoundedPlanning {
  /** The program that plans: `plan-process.js`. */
  readonly program: URL;
  readonly bounds: PlanBounds;
}

/**
 * Plans in a process of its own, so that the content of a repository can neither stop nor slow down the controller. A
 * worker thread would not be enough: its limits do not count buffers outside of the heap. The process and its children
 * are killed at a bound, or when `signal` aborts.
 * @throws InputError `plan.bound.…` when it hits a bound, and what planning throws
 */
export async function planInProcess(
  input: PlanRevisionsInput,
  { program, bounds }: BoundedPlanning,
  signal: AbortSignal,
): Promise<PlannedRevisions> {
  signal.throwIfAborted();
  const scratchDir = await mkdtemp(join(tmpdir(), 'berth-plan-'));
  const env = Object.fromEntries(
    PASSED.flatMap((name) => (input.ambient[name] === undefined ? [] : [[name, input.ambient[name]]])),
  );
  const heap = `--max-old-space-size=${bounds.memoryMiB}`;
  const child = spawn(process.execPath, [heap, fileURLToPath(program), String(bounds.outputBytes)], {
    cwd: scratchDir,
    env: { ...env, TMPDIR: scratchDir },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const untrack = childProcessGroups.track(child.pid);
  try {
    return await new PlanningProcess(child, input.hubApi, bounds).result(jobOf(input, env), signal);
  } finally {
    untrack();
    await rm(scratchDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

function jobOf(
  { applications, budgetOf, hubApi, tell: _tell, ...input }: PlanRevisionsInput,
  ambient: PlanRevisionsInput['ambient'],
): PlanJob {
  const { worldOf: _worldOf, ...context } = applications ?? {};
  return {
    input: { ...input, ambient },
    applications: applications && (context as PlanJob['applications']),
    budgets: new Map(
      (input.hub?.placements ?? []).flatMap((placement) => {
        const budget = budgetOf?.(placement);
        return budget === undefined ? [] : [[namespacedName(placement.metadata), budget] as const];
      }),
    ),
    server: hubApi?.server,
  };
}

type Child = ChildProcess & {
  readonly stdin: NodeJS.WritableStream;
  readonly stdout: NodeJS.ReadableStream;
};

class PlanningProcess {
  readonly #child: Child;
  readonly #hub: KubeApi | undefined;
  readonly #bounds: PlanBounds;
  #outcome: { readonly planned: PlannedRevisions } | { readonly error: Error } | undefined;

  constructor(child: Child, hub: KubeApi | undefined, bounds: PlanBounds) {
    this.#child = child;
    this.#hub = hub;
    this.#bounds = bounds;
  }

  /** Called once. Resolves with the plan, and ends with the process. */
  result(job: PlanJob, signal: AbortSignal): Promise<PlannedRevisions> {
    const child = this.#child;
    const { timeMs, memoryMiB, outputBytes } = this.#bounds;
    const stop = (error: Error): void => {
      this.#outcome ??= { error };
      killDescendants(child.pid);
    };
    const onAbort = (): void => stop(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    // The signal may have aborted while the process was starting.
    if (signal.aborted) onAbort();
    const deadline = setTimeout(() => stop(boundExceeded('timeMs', this.#bounds)), timeMs);
    const watch = setInterval(() => {
      const limit = memoryMiB * 1.5 * 1024 * 1024;
      if (residentBytes(child.pid) > limit) stop(boundExceeded('memoryMiB', this.#bounds));
    }, LOOK_MS);
    const frames = new FrameReader(outputBytes);
    child.stdout.on('data', (chunk: Buffer) => {
      const messages = this.#outcome === undefined ? frames.push(chunk) : [];
      if (messages === 'too-large') stop(boundExceeded('outputBytes', this.#bounds));
      else for (const message of messages) this.#take(message as PlannerMessage);
    });
    // The process ended. The `close` event says how.
    child.stdin.on('error', () => undefined);
    child.stdin.write(frameOf(job));
    return new Promise((resolve, reject) => {
      child.once('error', (error) => (this.#outcome ??= { error: notStarted(error) }));
      child.once('close', (code, killedBy) => {
        clearTimeout(deadline);
        clearInterval(watch);
        signal.removeEventListener('abort', onAbort);
        const outcome = this.#outcome ?? { error: this.#endedBy(code, killedBy) };
        if ('planned' in outcome) resolve(outcome.planned);
        else reject(outcome.error);
      });
    });
  }

  #take(message: PlannerMessage): void {
    switch (message.type) {
      case 'ask':
        void this.#answer(message.id, message.read);
        return;
      case 'planned':
        this.#outcome ??= { planned: message.planned };
        this.#child.stdin.end();
        return;
      case 'failed':
        this.#outcome ??= { error: receivedError(message.error) };
        this.#child.stdin.end();
    }
  }

  async #answer(id: number, read: HubRead): Promise<void> {
    let answer: Buffer;
    try {
      answer = frameOf({ id, value: await readHub(this.#hub, read) });
    } catch (error) {
      answer = frameOf({ id, error: sentError(error) });
    }
    if (this.#child.stdin.writable) this.#child.stdin.write(answer);
  }

  #endedBy(code: number | null, signal: NodeJS.Signals | null): Error {
    // 134 is the exit code with which a shell reports SIGABRT.
    if ((signal !== null && HEAP_FULL.includes(signal)) || code === 134)
      return boundExceeded('memoryMiB', this.#bounds);
    return new TransientError(`ended without a plan (${signal ?? `exit code ${code}`})`, {
      code: 'plan.process',
      subject: 'The process that plans',
    });
  }
}

function readHub(hub: KubeApi | undefined, read: HubRead): Promise<unknown> {
  if (hub === undefined) return Promise.reject(new Error('there is no hub'));
  switch (read.method) {
    case 'get':
      return hub.get(read.kind, read.key);
    case 'list':
      return hub.list(read.kind, read.options);
    case 'resolve':
      return hub.resolve(read.apiVersion, read.kind);
  }
}

function notStarted(cause: Error): TransientError {
  return new TransientError(`cannot be started: ${cause.message}`, {
    code: 'plan.process',
    subject: 'The process that plans',
    cause,
  });
}
