import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { IntOrString } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { compileCel } from '../../src/filter/cel-hook.ts';
import { byText, selectorTest } from './reference-filters.ts';

/** Section 5 of the rules: the selected clusters cut into groups, or what is wrong with the strategy. */
export interface Group {
  readonly name: string;
  readonly clusters: string[];
}

export function cutGroups(
  snapshot: Snapshot,
  placement: Placement,
  selected: ManagedCluster[],
  totals: Map<string, number>,
): Group[] | string {
  const strategy = placement.spec?.decisionStrategy?.groupStrategy ?? {};
  const length = groupLength(strategy.clustersPerDecisionGroup ?? '100%', selected.length);
  if (typeof length === 'string') return length;
  const order = (left: ManagedCluster, right: ManagedCluster): number => {
    const [a, b] = [left.metadata.name, right.metadata.name];
    const byScore = placement.spec?.sortBy === 'Score' ? (totals.get(b) ?? 0) - (totals.get(a) ?? 0) : 0;
    return byScore === 0 ? byText(a, b) : byScore;
  };
  const groups: Group[] = [];
  let rest = [...selected].sort(order);
  const cut = (name: string, members: ManagedCluster[]): void => {
    for (let at = 0; at < members.length; at += length)
      groups.push({ name, clusters: members.slice(at, at + length).map(({ metadata }) => metadata.name) });
  };
  for (const { groupName, groupClusterSelector } of strategy.decisionGroups ?? []) {
    const { labelSelector, claimSelector } = groupClusterSelector ?? {};
    const test = selectorTest(snapshot, { labelSelector, claimSelector }, compileCel);
    if (typeof test === 'string') return test;
    cut(groupName, rest.filter(test));
    rest = rest.filter((cluster) => !test(cluster));
  }
  cut('', rest);
  return groups.length === 0 ? [{ name: '', clusters: [] }] : groups;
}

function groupLength(value: IntOrString, count: number): number | string {
  let length: number;
  if (typeof value === 'number') length = value;
  else {
    const percent = /^[+-]?[0-9]+(\.[0-9]*)?%$/.test(value) ? Number(value.slice(0, -1)) : undefined;
    if (percent === undefined) return `${value} invalid type: string is not a percentage`;
    length = Math.ceil((percent * count) / 100);
  }
  return length <= 0 || length > count ? count : length;
}
