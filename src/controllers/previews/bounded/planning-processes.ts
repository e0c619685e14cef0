import type { Clock } from '../../../core/ports.ts';
import type { PlannedRevisions, PlanRevisionsInput } from '../plan-revisions.ts';
import { planInProcess } from './plan-in-process.ts';
import { type BoundedPlanning, PlanningProcess } from './planning-process.ts';

/** One that has nothing to do for so long gives its memory back. */
const IDLE_MS = 10 * 60_000;
/** One that has grown beyond this part of its bound is not used again. */
const MAX_PART = 0.75;
const MAX_PLANS = 200;

interface Idle {
  readonly process: PlanningProcess;
  readonly plans: number;
  readonly cancel: () => void;
}

/**
 * Reuses planning processes: a used process has the program loaded, the files of the base parsed and the objects of the hub in memory.
 * A plan of a fork gets a process of its own, so that no data of strangers remains for the next plan. A process ends when a plan
 * exceeds a bound or is stopped.
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

  /** @throws InputError `plan.bound.…` when it hits a bound, and what planning throws */
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
    const isUsed = plans >= MAX_PLANS || process.residentMiB > memoryMiB * MAX_PART;
    if (!process.isAlive) return;
    if (isUsed || this.#isClosed) return process.close();
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
