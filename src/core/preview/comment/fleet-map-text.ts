import type { CellChange, FleetGroup, FleetMap } from './fleet-map.ts';
import { fenced } from './foreign-text.ts';

const MAX_REGIONS = 6;

const MAX_SETS = 20;

/**
 * The map as lines of a code block: one sign for each cluster. Undefined if nothing moves, or if there are no clusters.
 */
export function fleetMapText({ sets, regions, groups, counts }: FleetMap): string | undefined {
  if (counts.gains + counts.loses + counts.both === 0) return undefined;
  const changed = (group: FleetGroup): boolean => group.cells.some(({ change }) => change !== 'none');
  // If not all fit, the sets or regions with changes are shown.
  const pick = (names: readonly string[], of: 'set' | 'region', most: number): readonly string[] =>
    names.length <= most
      ? names
      : names.filter((name) => groups.some((group) => group[of] === name && changed(group))).slice(0, most);
  const [rows, columns] = [pick(sets, 'set', MAX_SETS), pick(regions, 'region', MAX_REGIONS)];
  const cell = (set: string, region: string): string => {
    const group = groups.find((one) => one.set === set && one.region === region);
    return group === undefined ? '' : cellsText(group);
  };
  const table = [
    ['', ...columns.map((region) => shortName(region, 'no region'))],
    ...rows.map((set) => [shortName(set, 'no set'), ...columns.map((region) => cell(set, region))]),
  ];
  const widths = (table[0] ?? []).map((_, at) =>
    Math.max(...table.map((row) => [...(row[at] ?? '')].length)),
  );
  const lines = table.map((row) =>
    row
      .map((text, at) => text + ' '.repeat((widths[at] ?? 0) - [...text].length))
      .join('  ')
      .trimEnd(),
  );
  const left = sets.length - rows.length + regions.length - columns.length;
  return [
    ...lines,
    ...(left > 0 ? [`(${left} more sets and regions are not shown)`] : []),
    '',
    '+ gains workloads   − loses workloads',
    '± both              · unchanged',
    ...(groups.some(({ cells }) => cells.length > MAX_CELLS)
      ? ['+3 −2 of 60: 3 of 60 clusters gain, 2 lose']
      : []),
  ].join('\n');
}

const SIGNS: Readonly<Record<CellChange, string>> = { none: '·', gains: '+', loses: '−', both: '±' };

/** A larger group counts its clusters by sign. */
const MAX_CELLS = 24;

/** A larger group: `+3 −2 of 60`. */
function cellsText({ cells }: FleetGroup): string {
  if (cells.length <= MAX_CELLS) return cells.map(({ change }) => SIGNS[change]).join('');
  const counts = CHANGES.flatMap((kind) => {
    const count = cells.filter(({ change }) => change === kind).length;
    return count === 0 ? [] : [`${SIGNS[kind]}${count}`];
  });
  return counts.length === 0 ? `${SIGNS.none} all ${cells.length}` : `${counts.join(' ')} of ${cells.length}`;
}

const CHANGES = ['gains', 'loses', 'both'] as const;

const MAX_NAME = 24;

function shortName(name: string, otherwise: string): string {
  if (name === '') return otherwise;
  const points = [...fenced(name)];
  return points.length > MAX_NAME ? `${points.slice(0, MAX_NAME - 1).join('')}…` : points.join('');
}
