import type { PlannedRevisions, PlanRevisionsInput } from '../plan-revisions.ts';
import { type BoundedPlanning, PlanningProcess } from './planning-process.ts';

/**
 * Plans in a process of its own, so that what a repository holds can neither stop nor slow the controller: not its clock, not its heap,
 * not buffers outside of the heap, which the limits of a worker thread do not count. The process and all that it started are killed at a
 * bound, when `signal` aborts, and when the plan is there.
 * @throws InputError `plan.bound.…` when it hits a bound, and what planning throws
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
