import type { PublishedPlacement } from '../../publish/pages/published-placements.ts';
import type { DecisionUse } from './decision-use.ts';
import { decisionsSeen, type SeenBy } from './decisions-seen.ts';

export interface SeenDecisions {
  /** `namespace/name` of the used and published placements, sorted. */
  readonly placements: readonly string[];
  /**
   * 12 hexadecimal digits that change when one of these decisions changes; undefined: no published decision is used.
   */
  readonly digest: string | undefined;
}

/** The published decisions that an ApplicationSet reads. Equal for equal decisions, in every process and order. */
export function seenDecisions(
  uses: readonly DecisionUse[],
  published: readonly PublishedPlacement[],
  options: SeenBy & { readonly digest: (text: string) => string },
): SeenDecisions {
  const seen = published.flatMap((one) => {
    const groups = uses.flatMap((use) => decisionsSeen(use, one, options) ?? []);
    return groups.length === 0 ? [] : [{ placement: one.placement, groups: distinct(groups) }];
  });
  if (seen.length === 0) return { placements: [], digest: undefined };
  seen.sort((a, b) => (a.placement < b.placement ? -1 : 1));
  const text = JSON.stringify(
    seen.map(({ placement, groups }) => [
      placement,
      groups.map(({ name, index, decisions }) => [
        name,
        index,
        decisions.map(({ clusterName, reason, score }) => [clusterName, reason, score ?? null]),
      ]),
    ]),
  );
  return {
    placements: seen.map(({ placement }) => placement),
    digest: options.digest(text).slice(0, 12),
  };
}

/** Two generators of one ApplicationSet may read the same group. */
function distinct(groups: PublishedPlacement['groups']): PublishedPlacement['groups'] {
  return [...new Set(groups)].sort((a, b) => a.index - b.index || (a.name < b.name ? -1 : 1));
}
