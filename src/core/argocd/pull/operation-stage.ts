import { jsonEqual } from '../../model/json-equal.ts';
import type { Application } from '../../model/kind/argo-application.ts';
import type { ManifestWork } from '../../model/kind/manifest-work.ts';
import { findCondition } from '../../work/conditions/condition-list.ts';
import { readPullFeedback } from './read-pull-feedback.ts';

/**
 * How far the operation of a hub's Application has got.
 * - `none`: there is none.
 * - `carried`: the work carries it, or is to carry it.
 * - `ended`: the cluster reports an end that the hub has not seen.
 * - `waits`: the agent has not seen the work without the last operation yet. It takes an operation that is equal to the last one
 *   for that one, so it would not apply this one; a RollingSync asks for equal ones again and again.
 */
export type OperationStage = 'none' | 'carried' | 'ended' | 'waits';

const FINISHED = new Set(['Succeeded', 'Failed', 'Error']);

/** @param work the work that carries the Application, as the hub has it */
export function operationStage(
  { operation, status }: Application,
  work: Pick<ManifestWork, 'metadata' | 'spec' | 'status'> | undefined,
): OperationStage {
  if (operation === undefined) return 'none';
  if (work === undefined) return 'carried';
  const [manifest] = work.spec?.workload?.manifests ?? [];
  const carried = manifest?.['operation'];
  if (carried === undefined) return isObserved(work) ? 'carried' : 'waits';
  const { phase = '', startedAt } = readPullFeedback(work);
  if (!jsonEqual(carried, operation) || startedAt === undefined || !FINISHED.has(phase)) return 'carried';
  const seen = status?.operationState;
  return seen?.startedAt === startedAt && FINISHED.has(seen.phase ?? '') ? 'carried' : 'ended';
}

/** Whether the agent has applied what the work holds now; true of an agent that never said anything. */
function isObserved({ metadata, status }: Pick<ManifestWork, 'metadata' | 'status'>): boolean {
  const { observedGeneration } = findCondition(status?.conditions, 'Applied') ?? {};
  return observedGeneration === undefined || observedGeneration >= (metadata.generation ?? 0);
}
