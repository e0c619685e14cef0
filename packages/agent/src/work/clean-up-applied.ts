import { APPLIED_MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { AppliedManifestWork, AppliedResource } from '@berth/ocm/kind/applied-manifest-work';
import { appliedWorkOwner } from '../rules/applied/ownership.ts';
import type { AgentState } from './agent-state.ts';
import { dropAppliedFinalizer, readApplied, allAppliedResources } from './applied-work.ts';
import { cleanUpResources } from './clean-up-resources.ts';

/**
 * Deletes an AppliedManifestWork, cleans up all of its objects, and removes the finalizer when they
 * are deleted. Every step is idempotent.
 * @param stays objects that must not be deleted
 * @returns whether it is deleted
 */
export async function cleanUpApplied(
  state: AgentState,
  applied: AppliedManifestWork,
  stays?: (resource: AppliedResource) => boolean,
): Promise<boolean> {
  const { cluster, log } = state.settings;
  const { name, uid = '' } = applied.metadata;
  if (applied.metadata.deletionTimestamp === undefined) {
    await cluster.delete(APPLIED_MANIFEST_WORK, { namespace: '', name }, { uid });
    const deleting = await readApplied(cluster, name);
    state.noteAppliedWork(name, deleting);
    if (deleting?.metadata.uid !== uid) return deleting === undefined;
    return cleanUpApplied(state, deleting, stays);
  }
  const owner = appliedWorkOwner(name, uid);
  const resources = allAppliedResources(applied);
  const { pending, problems } = await cleanUpResources(cluster, resources, owner, stays);
  for (const problem of problems) log.warn('an object cannot be cleaned up yet', { applied: name, problem });
  const current = await state.writeAppliedStatus(applied, { ...applied.status, appliedResources: pending });
  if (pending.length > 0) return false;
  await dropAppliedFinalizer(cluster, current);
  const left = await readApplied(cluster, name);
  state.noteAppliedWork(name, left);
  return left === undefined;
}
