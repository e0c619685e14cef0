import type { Plan } from '../plan.ts';

/** What a plan does to one cluster, over all placements. */
export type CellChange = 'none' | 'gains' | 'loses' | 'both';

export interface FleetCell {
  readonly cluster: string;
  readonly change: CellChange;
}

/** The clusters of one set in one region. */
export interface FleetGroup {
  /** The first set of each cluster; '' for clusters in no set. */
  readonly set: string;
  /** '' if unknown. */
  readonly region: string;
  /** Sorted by name. */
  readonly cells: readonly FleetCell[];
}

/** A fleet as a table: sets are rows, regions are columns. */
export interface FleetMap {
  readonly sets: readonly string[];
  readonly regions: readonly string[];
  readonly groups: readonly FleetGroup[];
  /** The number of clusters for each kind of change. */
  readonly counts: Readonly<Record<CellChange, number>>;
}

/** Every cluster before or after the change, and what the plan does to it. */
export function fleetMap({ placements, fleet }: Pick<Plan, 'placements' | 'fleet'>): FleetMap {
  const gains = new Set(placements.flatMap(({ added }) => added.map(({ cluster }) => cluster)));
  const loses = new Set(placements.flatMap(({ removed }) => removed.map(({ cluster }) => cluster)));
  const groups = new Map<string, { set: string; region: string; cells: FleetCell[] }>();
  const counts = { none: 0, gains: 0, loses: 0, both: 0 };
  for (const { name: cluster, sets, region = '' } of fleet) {
    const [set = ''] = sets;
    const change = changeOf(gains.has(cluster), loses.has(cluster));
    counts[change]++;
    const key = JSON.stringify([set, region]);
    const group = groups.get(key) ?? { set, region, cells: [] };
    groups.set(key, group);
    group.cells.push({ cluster, change });
  }
  const sorted = [...groups.values()].map((group) => ({
    ...group,
    cells: group.cells.toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1)),
  }));
  return {
    sets: namesOf(sorted.map(({ set }) => set)),
    regions: namesOf(sorted.map(({ region }) => region)),
    groups: sorted,
    counts,
  };
}

function changeOf(isGained: boolean, isLost: boolean): CellChange {
  if (isGained) return isLost ? 'both' : 'gains';
  return isLost ? 'loses' : 'none';
}

/** Each name once, sorted; '' last. */
function namesOf(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted((a, b) => (a === '' ? 1 : b === '' ? -1 : a < b ? -1 : 1));
}
