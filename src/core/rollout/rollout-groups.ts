import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  type PlacementDecision,
} from '@berth/ocm/kind/placement-decision';
import type { MandatoryGroups } from '@berth/ocm/kind/manifest-work-replica-set';
import { compareUtf8 } from '@berth/runtime/text/utf8';
import type { Outcome } from '../outcome.ts';
import type { RolloutGroup, RolloutRules } from './rollout-plan.ts';

/** The decision groups that a placement's decisions form, by their labels; ordered by index, then name. */
export function decisionGroups(decisions: readonly PlacementDecision[]): Outcome<readonly RolloutGroup[]> {
  const groups = new Map<string, { index: number; name: string; clusters: Set<string> }>();
  for (const decision of decisions) {
    const text = decision.metadata.labels?.[DECISION_GROUP_INDEX_LABEL] ?? '';
    if (!/^[+-]?\d+$/.test(text)) {
      const got = `got "${text}", expected an integer in label ${DECISION_GROUP_INDEX_LABEL}`;
      return {
        ok: false,
        error: `incorrect group index on PlacementDecision ${decision.metadata.name}: ${got}`,
      };
    }
    const name = decision.metadata.labels?.[DECISION_GROUP_NAME_LABEL] ?? '';
    const key = `${Number(text)}/${name}`;
    const group = groups.get(key) ?? { index: Number(text), name, clusters: new Set<string>() };
    for (const { clusterName } of decision.status?.decisions ?? []) group.clusters.add(clusterName);
    groups.set(key, group);
  }
  const ordered = [...groups.values()].sort((a, b) => a.index - b.index || compareUtf8(a.name, b.name));
  return { ok: true, value: ordered.map((group) => ({ ...group, clusters: [...group.clusters] })) };
}

/**
 * The groups that the rules consider. Upstream iterates over the indexes 0..n-1, so it ignores
 * groups after a gap; the rules of Berth consider all groups.
 */
export function visibleGroups(groups: readonly RolloutGroup[], rules: RolloutRules): readonly RolloutGroup[] {
  return rules === 'upstream'
    ? groups.filter((group) => group.index >= 0 && group.index < groups.length)
    : groups;
}

/** Splits groups into mandatory ones and the rest. A name selects all groups of that name; unknown entries select none. */
export function splitMandatory(
  groups: readonly RolloutGroup[],
  wanted: NonNullable<MandatoryGroups['mandatoryDecisionGroups']>,
): { readonly mandatory: readonly RolloutGroup[]; readonly rest: readonly RolloutGroup[] } {
  const isMandatory = (group: RolloutGroup): boolean =>
    wanted.some(({ groupName, groupIndex }) =>
      groupName !== undefined && groupName !== ''
        ? group.name === groupName
        : group.index === (groupIndex ?? 0),
    );
  return {
    mandatory: groups.filter(isMandatory),
    rest: groups.filter((group) => !isMandatory(group)),
  };
}
