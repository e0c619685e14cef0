import type { Condition } from '@berth/kube/model/object-meta';
import type { EligibilityClass } from '../filter/eligibility.ts';
import type { ScheduleStatus } from './schedule-result.ts';

export interface ConditionInput {
  readonly status: ScheduleStatus;
  readonly eligibility: EligibilityClass;
  /** `spec.clusterSets` */
  readonly wantedSets: readonly string[];
  readonly selectedCount: number;
  readonly unscheduled: number;
}

/**
 * PlacementMisconfigured and PlacementSatisfied, without transition times. Reasons and messages are
 * those of OCM.
 */
export function conditionsOf(input: ConditionInput): readonly Condition[] {
  return [misconfigured(input.status), satisfied(input)];
}

function misconfigured({ code, plugin, message }: ScheduleStatus): Condition {
  const type = 'PlacementMisconfigured';
  return code === 'Misconfigured'
    ? { type, status: 'True', reason: 'Misconfigured', message: `${plugin}:${message}` }
    : CONFIGURED;
}

/** Nearly all placements share this condition and `ALL_SCHEDULED`. */
const CONFIGURED: Condition = {
  type: 'PlacementMisconfigured',
  status: 'False',
  reason: 'Succeedconfigured',
  message: 'Placement configurations check pass',
};
const ALL_SCHEDULED: Condition = {
  type: 'PlacementSatisfied',
  status: 'True',
  reason: 'AllDecisionsScheduled',
  message: 'All cluster decisions scheduled',
};

function satisfied({ eligibility, wantedSets, selectedCount, unscheduled }: ConditionInput): Condition {
  if (eligibility.validBindings.length === 0)
    return no(
      'NoManagedClusterSetBindings',
      'No valid ManagedClusterSetBindings found in placement namespace',
    );
  if (eligibility.sets.length === 0)
    return no(
      'NoIntersection',
      `None of ManagedClusterSets [${wantedSets.join(',')}] is bound to placement namespace`,
    );
  if (eligibility.count === 0)
    return no(
      'AllManagedClusterSetsEmpty',
      `All ManagedClusterSets [${eligibility.sets.join(',')}] have no member ManagedCluster`,
    );
  if (selectedCount === 0)
    return no('NoManagedClusterMatched', 'No ManagedCluster matches any of the cluster predicate');
  if (unscheduled > 0) return no('NotAllDecisionsScheduled', `${unscheduled} cluster decisions unscheduled`);
  return ALL_SCHEDULED;
}

function no(reason: string, message: string): Condition {
  return { type: 'PlacementSatisfied', status: 'False', reason, message };
}
