import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Application } from '../argo-application.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { findCondition } from '@berth/kube/model/condition-list';
import { readPullFeedback } from './read-pull-feedback.ts';

/**
 * The stage of the operation of a hub's Application.
 * - `none`: there is none.
 * - `carried`: the work contains it, or must contain it.
 * - `finishing`: the cluster reports an end that the hub has not recorded, and has not compared the Application since. Argo CD
 * does that after each operation, and a RollingSync goes on only when it has (since Argo CD 3.3).
 * - `ended`: the same, and it has compared, or does not say when.
 * - `waits`: the agent has not seen the work without the previous operation yet. It would take an equal operation for
 * the previous one and not apply it; a RollingSync requests equal operations again and again.
 */
export type OperationStage = 'none' | 'carried' | 'finishing' | 'ended' | 'waits';

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
  const { phase = '', startedAt, reconciledAt } = readPullFeedback(work);
  if (!jsonEqual(carried, operation) || startedAt === undefined || !FINISHED.has(phase)) return 'carried';
  const seen = status?.operationState;
  if (seen?.startedAt === startedAt && FINISHED.has(seen.phase ?? '')) return 'carried';
  const isBefore = reconciledAt !== undefined && Date.parse(reconciledAt) < Date.parse(startedAt);
  return isBefore ? 'finishing' : 'ended';
}

/** Whether the agent has applied the current content of the work; true if the agent has never reported. */
export function isObserved({ metadata, status }: Pick<ManifestWork, 'metadata' | 'status'>): boolean {
  const { observedGeneration } = findCondition(status?.conditions, 'Applied') ?? {};
  return observedGeneration === undefined || observedGeneration >= (metadata.generation ?? 0);
}
