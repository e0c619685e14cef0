import { InputError } from '@berth/runtime/errors';

/** The limits for planning one pull request. */
export interface PlanBounds {
  /** The time from the start of the process to its plan. */
  readonly timeMs: number;
  /** The size of the JavaScript heap. With its buffers the process may use half as much again. */
  readonly memoryMiB: number;
  /** The size of the plan. */
  readonly outputBytes: number;
}

export const DEFAULT_PLAN_BOUNDS: PlanBounds = {
  timeMs: 120_000,
  memoryMiB: 1_024,
  outputBytes: 64 * 1024 * 1024,
};

const MIB = 1024 * 1024;

/** The error that the author of the pull request reads. */
export function boundExceeded(bound: keyof PlanBounds, bounds: PlanBounds): InputError {
  const words: Record<keyof PlanBounds, string> = {
    timeMs: `takes longer than ${bounds.timeMs / 1_000} seconds`,
    memoryMiB: `takes more than ${bounds.memoryMiB} MiB of memory`,
    outputBytes: `is larger than ${Math.floor(bounds.outputBytes / MIB)} MiB`,
  };
  return new InputError(`${words[bound]}, and was stopped`, {
    code: `plan.bound.${bound}`,
    subject: 'The plan',
    hint: 'make the change smaller, or run berth plan on a machine with more resources',
  });
}
