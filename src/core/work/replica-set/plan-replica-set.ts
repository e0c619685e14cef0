import type { PlacementReference } from '@berth/ocm/kind/manifest-work-replica-set';
import { planPlacement } from './plan-placement.ts';
import { type ClusterWorks, groupChildren, hasAppliedCurrent } from './replica-set-child.ts';
import type { PlacementOutcome, ReplicaSetInput, ReplicaSetPlan, WorkAction } from './replica-set-plan.ts';

/**
 * Decides which works to write and delete. A work is deleted only if the inputs are complete: its
 * placement exists, is scheduled, and its decisions have as many clusters as its status; and if
 * another placement provides the same objects, only after these are applied.
 */
export function planReplicaSet(input: ReplicaSetInput): ReplicaSetPlan {
  const groups = groupChildren(input.children);
  const kept = new Set(groups.flatMap((group) => [...group.works.values()]));
  const actions: WorkAction[] = input.children
    .filter((work) => !kept.has(work))
    .map((current) => ({ type: 'delete', current, reason: 'another work has the same part' }));
  const outcomes: PlacementOutcome[] = [];
  let recheckAfterMs: number | undefined;
  const refs = uniqueRefs(input.replicaSet.spec.placementRefs);
  const leaving: Leaving[] = [];
  for (const ref of refs) {
    const existing = groups.filter(({ placement }) => placement === ref.name);
    const planned = planPlacement(input, ref, existing);
    actions.push(...planned.actions);
    for (const group of planned.leaving)
      leaving.push({ group, reason: 'the placement does not select the cluster' });
    outcomes.push(planned.outcome);
    if (planned.recheckAfterMs !== undefined)
      recheckAfterMs = Math.min(recheckAfterMs ?? Number.POSITIVE_INFINITY, planned.recheckAfterMs);
  }
  // A reference to a missing placement may be a typo: existing works stay until it is corrected.
  if (outcomes.every(({ state }) => state === 'planned'))
    for (const group of groups.filter(({ placement }) => !refs.some(({ name }) => name === placement)))
      leaving.push({ group, reason: `placement ${group.placement} is not referenced any more` });
  for (const { group, reason } of leaving)
    if (!mustWaitForReplacement(group, outcomes)) actions.push(...deleteAll(group, reason));
  return { actions, placements: outcomes, recheckAfterMs };
}

interface Leaving {
  readonly group: ClusterWorks;
  readonly reason: string;
}

/**
 * Whether another placement selects the same cluster, and its work there is not applied yet. Deleting this
 * work now would delete and recreate the common objects.
 */
function mustWaitForReplacement(group: ClusterWorks, outcomes: readonly PlacementOutcome[]): boolean {
  const replacements = outcomes.filter(
    ({ name, clusters }) => name !== group.placement && clusters.has(group.cluster),
  );
  return (
    replacements.length > 0 && !replacements.some((replacement) => hasApplied(replacement, group.cluster))
  );
}

function hasApplied({ existing }: PlacementOutcome, cluster: string): boolean {
  const works = [...(existing.find((group) => group.cluster === cluster)?.works.values() ?? [])];
  return works.length > 0 && works.every(hasAppliedCurrent);
}

/** A placement that is listed twice is used once, with the first strategy. */
function uniqueRefs(refs: readonly PlacementReference[]): readonly PlacementReference[] {
  return refs.filter((ref, index) => refs.findIndex(({ name }) => name === ref.name) === index);
}

function deleteAll(group: ClusterWorks, reason: string): readonly WorkAction[] {
  return [...group.works.values()].map((current) => ({ type: 'delete', current, reason }));
}
