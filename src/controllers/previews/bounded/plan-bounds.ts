import { InputError } from '../../../core/errors.ts';

/** What planning one pull request may take. */
export interface PlanBounds {
  /** From its start to its plan. */
  readonly timeMs: number;
  /** Of JavaScript's heap; together with buffers it may take half as much again. */
  readonly memoryMiB: number;
  /** Of the plan, and of one read of the hub. */
  readonly outputBytes: number;
}

export const DEFAULT_PLAN_BOUNDS: PlanBounds = {
  timeMs: 120_000,
  memoryMiB: 1_024,
  outputBytes: 64 * 1024 * 1024,
};

const MIB = 1024 * 1024;

/** What the author of the pull request reads. */
export function boundExceeded(bound: keyof PlanBounds, bounds: PlanBounds): InputError {
  const words: Record<keyof PlanBounds, string> = {
    timeMs: `takes longer than ${bounds.timeMs / 1_000} seconds`,
    memoryMiB: `takes more than ${bounds.memoryMiB} MiB of memory`,
    outputBytes: `is larger than ${Math.floor(bounds.outputBytes / MIB)} MiB`,
  };
  return new InputError(`${words[bound]}, and was stopped`, {
    code: `plan.bound.${bound}`,
    subject: 'The plan',
    hint: 'make the change smaller, or plan it with berth plan where there is more room',
  });
}
