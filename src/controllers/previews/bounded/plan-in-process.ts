import type { PlannedRevisions, PlanRevisionsInput } from '../plan-revisions.ts';
import { type BoundedPlanning, PlanningProcess } from './planning-process.ts';

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
