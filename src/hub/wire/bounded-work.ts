import { requestTooExpensive } from './status-errors.ts';
import { withinWorkBudget, WorkExceededError } from '../json/work-budget.ts';

/** Runs one synchronous part of a request; what it may compute is bounded. @throws StatusError 413 besides what `run` throws */
export function boundedWork<T>(run: () => T): T {
  try {
    return withinWorkBudget(run);
  } catch (error) {
    throw error instanceof WorkExceededError ? requestTooExpensive() : error;
  }
}
