import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import { REPLICA_SET_LABEL } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { findCondition } from '@berth/kube/model/condition-list';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';

/**
 * When a completed work is deleted, milliseconds since the epoch; undefined: never. 0 and less:
 * immediately.
 */
export function deletionDueMs(work: ManifestWork): number | undefined {
  const ttlSeconds = work.spec?.deleteOption?.ttlSecondsAfterFinished;
  if (ttlSeconds === undefined || ttlSeconds === null) return undefined;
  if (work.metadata.deletionTimestamp !== undefined) return undefined;
  // Works of a replica set are deleted by their replica set.
  if (work.metadata.labels?.[REPLICA_SET_LABEL] !== undefined) return undefined;
  const complete = findCondition(work.status?.conditions, 'Complete');
  if (complete?.status !== 'True') return undefined;
  const since = Date.parse(complete.lastTransitionTime ?? '');
  if (ttlSeconds <= 0) return 0;
  return Number.isNaN(since) ? undefined : since + ttlSeconds * 1000;
}

/** Deletes a ManifestWork that has been Complete for longer than its ttlSecondsAfterFinished. */
export async function collectCompletedWork(
  work: ManifestWork | undefined,
  { hub, clock }: { readonly hub: KubeApi; readonly clock: Clock },
): Promise<ReconcileOutcome> {
  const dueMs = work === undefined ? undefined : deletionDueMs(work);
  if (work === undefined || dueMs === undefined) return DONE;
  const remainingMs = dueMs - clock.now();
  if (remainingMs > 0) return { kind: 'requeue', afterMs: remainingMs };
  const { namespace = '', name, uid, resourceVersion } = work.metadata;
  await hub.delete(MANIFEST_WORK, { namespace, name }, { uid, resourceVersion });
  return DONE;
}
