import { groupBy } from '@berth/runtime/lists/group-by';
import { type FleetCell, type FleetMap, fleetMap } from '../comment/fleet-map.ts';
import { markup } from '../comment/foreign-text.ts';
import { formatCount, formatNames } from '../plan-text.ts';
import type { Plan } from '../plan.ts';
import { fold, listOf } from './html.ts';

/** What happens to one cluster, by placement. */
interface ClusterMoves {
  readonly gains: readonly string[];
  readonly loses: readonly string[];
}

/**
 * The clusters by set and region, with names: those that change with their placements, the others folded. A cluster is
 * listed in the set of its label, or else in the first one that selects it; the other sets follow.
 */
export function fleetHtml(plan: Plan): string {
  const { sets, groups } = fleetMap(plan);
  const moves = movesByCluster(plan);
  const parts = sets.flatMap((set) =>
    groups
      .filter((group) => group.set === set)
      .toSorted((a, b) => (a.region < b.region ? -1 : 1))
      .map((group) => groupHtml(group, moves)),
  );
  const others = otherSets(plan, moves);
  return `${parts.join('\n')}${others.length === 0 ? '' : `<h3>Other sets of these clusters</h3>${listOf(others)}`}`;
}

function movesByCluster({ placements }: Plan): ReadonlyMap<string, ClusterMoves> {
  const moves = (of: 'added' | 'removed'): ReadonlyMap<string, readonly string[]> => {
    const pairs = placements.flatMap((plan) =>
      plan[of].map(({ cluster }) => ({ cluster, placement: `${plan.namespace}/${plan.name}` })),
    );
    return new Map(
      [...groupBy(pairs, ({ cluster }) => cluster)].map(([cluster, all]) => [
        cluster,
        all.map(({ placement }) => placement),
      ]),
    );
  };
  const [gains, loses] = [moves('added'), moves('removed')];
  return new Map(
    [...gains.keys(), ...loses.keys()].map((cluster) => [
      cluster,
      { gains: gains.get(cluster) ?? [], loses: loses.get(cluster) ?? [] },
    ]),
  );
}

/** More changed clusters of a group are folded. */
const MAX_OPEN = 12;

function groupHtml(
  { set, region, cells }: FleetMap['groups'][number],
  moves: ReadonlyMap<string, ClusterMoves>,
): string {
  const changed = cells.filter(({ change }) => change !== 'none');
  const staying = cells.filter(({ change, runs }) => change === 'none' && runs);
  const absent = cells.filter(({ change, runs }) => change === 'none' && !runs);
  const title = `${set === '' ? 'No set' : `Set ${set}`}, ${region === '' ? 'no region' : `region ${region}`}`;
  const [open, more] = [changed.slice(0, MAX_OPEN), changed.slice(MAX_OPEN)];
  const item = ({ cluster }: FleetCell): string => changedHtml(cluster, moves.get(cluster));
  return [
    `<h3>${markup(title)} <small>${formatCount(cells.length, 'cluster')}</small></h3>`,
    open.length === 0 ? '' : listOf(open.map(item)),
    more.length === 0 ? '' : fold(`${more.length} more that change`, listOf(more.map(item))),
    namesHtml('stays', `● ${formatCount(staying.length, 'cluster')}: it stays there`, staying),
    namesHtml('absent', `○ ${formatCount(absent.length, 'cluster')}: not on it`, absent),
  ].join('');
}

function changedHtml(cluster: string, moves: ClusterMoves | undefined): string {
  const gains = moves?.gains ?? [];
  const loses = moves?.loses ?? [];
  const texts = [
    ...(gains.length === 0 ? [] : [`<span class="joins">+ gains</span> ${markup(formatNames(gains, 5))}`]),
    ...(loses.length === 0 ? [] : [`<span class="leaves">− loses</span> ${markup(formatNames(loses, 5))}`]),
  ];
  return `<strong>${markup(cluster)}</strong> ${texts.join('; ')}`;
}

function namesHtml(kind: string, summary: string, cells: readonly FleetCell[]): string {
  if (cells.length === 0) return '';
  const names = cells.map(({ cluster }) => `<li>${markup(cluster)}</li>`).join('');
  return fold(summary, `<ul class="names ${kind}">${names}</ul>`);
}

/** A cluster is in one set by its label, and in any number of others. */
function otherSets({ fleet }: Plan, moves: ReadonlyMap<string, ClusterMoves>): readonly string[] {
  const pairs = fleet.flatMap(({ name, sets }) => sets.slice(1).map((set) => ({ set, name })));
  return [...groupBy(pairs, ({ set }) => set)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([set, members]) => {
      const changed = members.filter(({ name }) => moves.has(name)).map(({ name }) => name);
      const which = changed.length === 0 ? 'none of them changes' : `change: ${formatNames(changed, 10)}`;
      return `Set ${markup(set)}: ${formatCount(members.length, 'cluster')}, ${markup(which)}`;
    });
}
