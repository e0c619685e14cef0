import { MANIFEST_WORK_FINALIZER, type ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { AppliedResource } from '@berth/ocm/kind/applied-manifest-work';
import { isOwned } from '../rules/applied/ownership.ts';
import { readManifests } from '../apply/apply-manifests.ts';
import { setCondition } from '@berth/kube/model/condition-list';
import { isRefusal } from '../rules/applied/kube-failure.ts';
import type { AgentState } from '../state/agent-state.ts';
import { appliedWorkName, readApplied } from '../record/applied-work.ts';
import { releaseApplied } from '../release/release-applied.ts';
import { DONE, RETRY, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import { observeWork } from '../feedback/observe-work.ts';
import { writeFinalizers } from '../state/work-status.ts';

/**
 * Finalizes a ManifestWork that is being deleted: deletes its objects, then removes the finalizer.
 */
export async function finalizeWork(state: AgentState, deleting: ManifestWork): Promise<ReconcileOutcome> {
  const { settings } = state;
  const { name } = deleting.metadata;
  if (!(deleting.metadata.finalizers ?? []).includes(MANIFEST_WORK_FINALIZER)) return DONE;
  // Read from the server, because an outdated cache would leave objects behind.
  const applied = await readApplied(settings.cluster, appliedWorkName(settings, name));
  let work = deleting;
  if (applied !== undefined) {
    work = await reportDeletion(state, work);
    const stays = await orphanedObjects(state, work);
    if (!(await releaseApplied(state, applied, stays))) {
      const { status } = await observeWork(state, work, work.status ?? {});
      await state.writeWorkStatus(work, status);
      return RETRY;
    }
  }
  await dropWorkFinalizer(state, work);
  state.forget(name);
  settings.emit({ kind: 'deleted', cluster: settings.clusterName, work: name });
  return DONE;
}

async function reportDeletion(state: AgentState, work: ManifestWork): Promise<ManifestWork> {
  const condition = {
    type: 'Deleting',
    status: 'True' as const,
    reason: 'WorkDeleting',
    message: 'ManifestWork is being deleted',
    observedGeneration: work.metadata.generation,
  };
  const conditions = setCondition(work.status?.conditions ?? [], condition, state.now());
  return state.writeWorkStatus(work, { ...work.status, conditions });
}

/**
 * Objects that the last version of the work orphans stay, even if that version was never applied.
 * Objects that were removed from the work before are deleted.
 */
async function orphanedObjects(
  state: AgentState,
  { spec = {} }: ManifestWork,
): Promise<(resource: AppliedResource) => boolean> {
  if ((spec.deleteOption?.propagationPolicy ?? 'Foreground') === 'Foreground') return () => false;
  const tasks = await readManifests(spec, state.settings.cluster);
  const listed = ({ group = '', resource, namespace = '', name }: AppliedResource): boolean =>
    tasks.some(({ meta }) => {
      if ((meta.group ?? '') !== group || meta.name !== name) return false;
      // The kind does not resolve now. In doubt, the object stays.
      if ((meta.resource ?? '') === '') return true;
      return meta.resource === resource && (meta.namespace ?? '') === namespace;
    });
  return (resource) => listed(resource) && !isOwned(spec.deleteOption, resource);
}

async function dropWorkFinalizer(state: AgentState, work: ManifestWork): Promise<void> {
  const kept = (work.metadata.finalizers ?? []).filter((finalizer) => finalizer !== MANIFEST_WORK_FINALIZER);
  try {
    await writeFinalizers(state.settings.hub, work, kept);
  } catch (error) {
    if (!isRefusal(error, 'notfound')) throw error;
  }
}
