import { requestTooExpensive } from './status-errors.ts';
import { withinWorkBudget, WorkExceededError } from '../json/work-budget.ts';

/**
 * Runs the synchronous part of a request with limited work.
 * @throws StatusError 413 besides what `run` throws
 */
export function boundedWork<T>(run: () => T): T {
  try {
    return withinWorkBudget(run);
  } catch (error) {
    throw error instanceof WorkExceededError ? requestTooExpensive() : error;
  }
}
