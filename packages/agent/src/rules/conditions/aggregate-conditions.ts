import type { ManifestCondition } from '@berth/ocm/kind/manifest-work';
import type { Condition } from '@berth/kube/model/object-meta';
import { findCondition } from '@berth/kube/model/condition-list';

/** Reasons of conditions that come out of condition rules, on manifests and on the work. */
export const RULE_REASON_PREFIX = 'ConditionRule';

/**
 * The condition Applied of the work from those of its manifests; undefined without manifests (then
 * it is unchanged).
 */
export function aggregateApplied(
  manifests: readonly ManifestCondition[],
  generation: number,
): Condition | undefined {
  if (manifests.length === 0) return undefined;
  const all = manifests.every((manifest) => findCondition(manifest.conditions, 'Applied')?.status === 'True');
  return {
    type: 'Applied',
    status: all ? 'True' : 'False',
    reason: all ? 'AppliedManifestWorkComplete' : 'AppliedManifestWorkFailed',
    message: all ? 'Apply manifest work complete' : 'Failed to apply manifest work',
    observedGeneration: generation,
  };
}

/** Available of the work from Available of its manifests. */
export function aggregateAvailable(manifests: readonly ManifestCondition[], generation: number): Condition {
  const statuses = manifests.map((manifest) => findCondition(manifest.conditions, 'Available')?.status);
  const missing = statuses.filter((status) => status === 'False').length;
  const unknown = statuses.filter((status) => status === 'Unknown').length;
  const available = (status: Condition['status'], reason: string, message: string): Condition => ({
    type: 'Available',
    status,
    reason,
    message,
    observedGeneration: generation,
  });
  const total = manifests.length;
  if (missing > 0)
    return available('False', 'ResourcesNotAvailable', `${missing} of ${total} resources are not available`);
  if (unknown > 0)
    return available(
      'Unknown',
      'ResourcesStatusUnknown',
      `${unknown} of ${total} resources have unknown status`,
    );
  // The trailing space is part of the message in the API.
  if (!statuses.includes('True'))
    return available('Unknown', 'ResourcesStatusUnknown', 'cannot get any available resource ');
  return available('True', 'ResourcesAvailable', 'All resources are available');
}

/**
 * One condition of the work for each type of condition rules; manifests without the type are
 * ignored.
 */
export function aggregateRules(
  manifests: readonly ManifestCondition[],
  generation: number,
): readonly Condition[] {
  const byType = new Map<string, Condition[]>();
  for (const manifest of manifests)
    for (const condition of manifest.conditions ?? [])
      if (condition.reason.startsWith(RULE_REASON_PREFIX))
        byType.set(condition.type, [...(byType.get(condition.type) ?? []), condition]);
  return [...byType].map(([type, conditions]) => ({
    type,
    status: aggregateStatus(type, conditions),
    reason: 'ConditionRulesAggregated',
    message:
      conditions.length === 1 && conditions[0] !== undefined
        ? conditions[0].message
        : `Aggregated from ${conditions.length} manifest conditions`,
    observedGeneration: generation,
  }));
}

/**
 * For `Progressing`, one True makes the work's condition True. For every other type, one False makes it False.
 */
function aggregateStatus(type: string, conditions: readonly Condition[]): Condition['status'] {
  const deciding = type === 'Progressing' ? 'True' : 'False';
  const otherwise = type === 'Progressing' ? 'False' : 'True';
  if (conditions.some(({ status }) => status === deciding)) return deciding;
  return conditions.some(({ status }) => status === 'Unknown') ? 'Unknown' : otherwise;
}
