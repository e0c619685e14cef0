import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition } from '@berth/kube/model/object-meta';
import type { ClusterManagementAddOn, ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import { isOfTemplate } from '@berth/addon/rules/addon-versions';

/** The condition of an add-on on which nothing acts. It is not one of OCM's. */
export const MANAGED = 'Managed';

/** Objects of one commit come one after the other, and a manager needs a moment. */
const GRACE_MS = 60_000;

export interface ManagerVerdict {
  /** Undefined: the add-on has no such condition. */
  readonly condition: Condition | undefined;
  readonly recheckAfterMs?: number;
}

/**
 * Whether something acts on a cluster's add-on. Otherwise it would stay as it is forever without a word, so a condition says what has
 * to run.
 */
export function findMissingManager(
  addon: ManagedClusterAddOn,
  addOn: ClusterManagementAddOn | undefined,
  nowMs: number,
): ManagerVerdict {
  const { metadata, status } = addon;
  const missing = whatIsMissing(addon, addOn);
  if (missing === undefined) return { condition: undefined };
  const before = findCondition(status?.conditions, MANAGED);
  const waitMs = Date.parse(metadata.creationTimestamp ?? '') + GRACE_MS - nowMs;
  if (before === undefined && waitMs > 0) return { condition: undefined, recheckAfterMs: waitMs };
  return { condition: { type: MANAGED, status: 'False', ...missing } };
}

function whatIsMissing(
  { metadata: { name }, status }: ManagedClusterAddOn,
  addOn: ClusterManagementAddOn | undefined,
): Pick<Condition, 'reason' | 'message'> | undefined {
  if (addOn === undefined)
    return {
      reason: 'ClusterManagementAddOnNotFound',
      message: `The hub has no ClusterManagementAddOn ${name}, so nothing acts on this add-on. Create it, or start the manager that creates it.`,
    };
  if (findCondition(status?.conditions, 'RegistrationApplied') !== undefined) return undefined;
  // A rollout has not reached the cluster, and the condition Configured says so. It is registered with its configurations.
  if (isOfTemplate(addOn) && findCondition(status?.conditions, 'Configured')?.status === 'False')
    return undefined;
  return {
    reason: 'ManagerNotRunning',
    message: isOfTemplate(addOn)
      ? 'Nothing registers this add-on. Start berth serve --addons registration deployment, or the add-on manager of OCM.'
      : 'This add-on is not made of an AddOnTemplate, and its own manager has not registered it. Start that manager on the hub.',
  };
}

/** @returns undefined if nothing changes */
export function withManagerVerdict(
  conditions: readonly Condition[],
  { condition }: ManagerVerdict,
  now: string,
): readonly Condition[] | undefined {
  const before = findCondition(conditions, MANAGED);
  if (condition === undefined)
    return before === undefined ? undefined : conditions.filter((one) => one !== before);
  if (before?.reason === condition.reason && before.message === condition.message) return undefined;
  const lastTransitionTime = before?.lastTransitionTime ?? now;
  return [...conditions.filter((one) => one !== before), { ...condition, lastTransitionTime }];
}
