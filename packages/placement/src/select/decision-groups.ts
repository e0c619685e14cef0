import type { IntOrString } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ClusterIndex } from '../snapshot/cluster-index.ts';
import { lowerBound } from '@berth/runtime/lists/lower-bound';
import type { CompiledClusterSelector } from '../filter/cluster-selector.ts';
import { compileClusterSelector, matchesCluster } from '../filter/cluster-selector.ts';
import type { DecisionGroup } from '../result/schedule-result.ts';

/** A valid group strategy. `length` returns the size of a group for a number of selected clusters. */
export interface GroupPlan {
  readonly ok: true;
  readonly named: readonly { readonly name: string; readonly selector: CompiledClusterSelector }[];
  readonly length: (selectedCount: number) => number;
  /** sortBy: Score */
  readonly byScore: boolean;
}

export type GroupPlanResult = GroupPlan | { readonly ok: false; readonly error: string };

const PERCENT = /^([+-]?[0-9]+(?:\.[0-9]*)?)%$/;

export function planGroups(placement: Placement): GroupPlanResult {
  const { decisionGroups = [], clustersPerDecisionGroup = '100%' } =
    placement.spec?.decisionStrategy?.groupStrategy ?? {};
  const length = groupLength(clustersPerDecisionGroup);
  if (typeof length === 'string') return { ok: false, error: length };
  const named: { name: string; selector: CompiledClusterSelector }[] = [];
  for (const { groupName, groupClusterSelector } of decisionGroups) {
    const { labelSelector, claimSelector } = groupClusterSelector ?? {};
    const compiled = compileClusterSelector({ labelSelector, claimSelector }, NO_CEL);
    if (!compiled.ok) return compiled;
    named.push({ name: groupName, selector: compiled.selector });
  }
  return { ok: true, named, length, byScore: placement.spec?.sortBy === 'Score' };
}

/**
 * Divides the selected clusters into groups. `ordered` has the clusters in the order in which they
 * are written.
 */
export function divideIntoGroups(
  plan: GroupPlan,
  clusterIndex: ClusterIndex,
  ordered: Uint32Array,
): readonly DecisionGroup[] {
  const groups: DecisionGroup[] = [];
  const length = plan.length(ordered.length);
  const cut = (name: string, numbers: Uint32Array): void => {
    for (let at = 0; at < numbers.length; at += length) {
      const clusters = new Array<string>(Math.min(length, numbers.length - at));
      for (let i = 0; i < clusters.length; i++)
        clusters[i] = clusterIndex.names[numbers[at + i] as number] as string;
      groups.push({ index: groups.length, name, clusters });
    }
  };
  let rest = ordered;
  for (const { name, selector } of plan.named) {
    const matches = (number: number): boolean =>
      matchesCluster(selector, clusterIndex.cluster(number), NO_SCORE);
    cut(name, rest.filter(matches));
    rest = rest.filter((number) => !matches(number));
  }
  cut('', rest);
  return groups.length === 0 ? [{ index: 0, name: '', clusters: [] }] : groups;
}

/** Names of clusters that were added to a selection, and removed from it. */
export interface SelectionChange {
  readonly gained: readonly string[];
  readonly lost: readonly string[];
}

/**
 * The groups after a change of clusters. Undefined if the groups must be divided again, because they
 * depend on more than the clusters or because the change moves their borders.
 */
export function updateGroups(
  plan: GroupPlan,
  groups: readonly DecisionGroup[],
  { gained, lost }: SelectionChange,
): readonly DecisionGroup[] | undefined {
  if (plan.byScore || plan.named.length > 0) return undefined;
  if (gained.length + lost.length === 0) return groups;
  const [only, ...others] = groups;
  if (only === undefined || others.length > 0 || gained.length + lost.length > FEW) return undefined;
  const clusters = [...only.clusters];
  for (const name of lost) clusters.splice(placeOf(clusters, name), 1);
  for (const name of gained) clusters.splice(placeOf(clusters, name), 0, name);
  return plan.length(clusters.length) < clusters.length ? undefined : [{ ...only, clusters }];
}

/** With more changed clusters than this, dividing again is as fast. */
const FEW = 8;

/** The index of a name in a sorted list, or where it would be inserted. */
function placeOf(names: readonly string[], name: string): number {
  return lowerBound(names.length, (at) => (names[at] as string) < name);
}

/**
 * Returns a function from the selected count to the group length, or an error. A percentage may
 * have a fraction and is rounded up. A length of 0 or less, or of more than the count, means one
 * group with all clusters.
 */
function groupLength(value: IntOrString): ((selectedCount: number) => number) | string {
  const bounded = (length: number, count: number): number =>
    length <= 0 || length > count ? Math.max(count, 1) : length;
  if (typeof value === 'number') return (count) => bounded(value, count);
  const match = PERCENT.exec(value);
  if (match === null) return `${value} invalid type: string is not a percentage`;
  const percent = Number(match[1]);
  return (count) => bounded(Math.ceil((percent * count) / 100), count);
}

const NO_CEL = (): { ok: false; error: string } => ({
  ok: false,
  error: 'groups select by labels and claims only',
});
const NO_SCORE = (): undefined => undefined;
