import type { Clock } from '@berth/runtime/clock/clock';
import type { PlannedRevisions, PlanRevisionsInput } from '../plan-revisions.ts';
import { planInProcess } from './plan-in-process.ts';
import { type BoundedPlanning, PlanningProcess } from './planning-process.ts';

/** A process that makes no plan for this time is ended. */
const IDLE_MS = 10 * 60_000;
/** A process that uses more than this share of its memory bound is not used again. */
const MAX_MEMORY_SHARE = 0.75;
/** A process that made so many plans is not used again. */
const MAX_PLANS = 200;

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
