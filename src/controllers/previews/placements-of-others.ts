import type { Placement } from '@berth/ocm/kind/placement';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { SCHEDULER_ANNOTATION } from '@berth/placement/explain/verdict/placement-marks';
import { formatNameList } from '@berth/runtime/text/name-list';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { publishedResults } from '../../core/transition/published-results.ts';
import { isOfOtherScheduler, withForeignDisabled } from '../inventory/schedulable-placement.ts';

interface HubOfMany {
  /** Undefined without a hub. */
  readonly hub?: Snapshot | undefined;
  /** The placements on the hub that Berth decides. `own`: those of Git, and those marked as its own. Default: all. */
  readonly decides?: 'own' | 'all' | undefined;
}

interface SharedHub {
  readonly hub: Snapshot | undefined;
  /** `namespace/name` of the placements that another controller decides. */
  readonly others: readonly string[];
}

/** The hub as the controller will see it. @param inGit the placements that one of the commits declares */
export function leavePlacementsToOthers(
  { hub, decides }: HubOfMany,
  inGit: readonly Pick<Placement, 'metadata'>[],
): SharedHub {
  if (hub === undefined || decides !== 'own') return { hub, others: [] };
  const declared = new Set(inGit.map(({ metadata }) => namespacedName(metadata)));
  const isOfOther = (placement: Placement): boolean =>
    !declared.has(namespacedName(placement.metadata)) && isOfOtherScheduler(placement);
  const placements = hub.placements.map((one) => (isOfOther(one) ? withForeignDisabled(one) : one));
  const others = hub.placements.filter(isOfOther).map(({ metadata }) => namespacedName(metadata));
  return { hub: { ...hub, placements }, others };
}

/** The results. A placement that Berth does not decide keeps its published decision. */
export function withOthersPublished(
  results: readonly ScheduleResult[],
  decisions: Snapshot['decisions'],
): readonly ScheduleResult[] {
  const skipped = results.filter(({ outcome }) => outcome === 'skipped');
  if (skipped.length === 0) return results;
  const published = new Map(publishedResults(skipped, decisions).map((result, at) => [skipped[at], result]));
  return results.map((result) => published.get(result) ?? result);
}

/** What a plan says about the placements that another controller decides. */
export function otherSchedulersNote(others: readonly string[]): readonly string[] {
  if (others.length === 0) return [];
  const subject = others.length === 1 ? '1 placement' : `${others.length} placements`;
  return [
    `Another controller decides ${subject} on the hub: neither in Git nor marked with ${SCHEDULER_ANNOTATION}: berth. ` +
      `Their published decisions count as they are: ${formatNameList(others)}.`,
  ];
}
