import { fenced } from './foreign-text.ts';
import type { CellChange, FleetGroup, FleetMap } from './fleet-map.ts';

const SIGNS: Readonly<Record<CellChange, string>> = { none: '·', gains: '+', loses: '−', both: '±' };
/** A larger group shows only changed clusters and counts the others. */
const MAX_CELLS = 24;
const MAX_REGIONS = 6;
const MAX_SETS = 20;
const MAX_NAME = 24;

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
  ].join('\n');
}

function cellsText({ cells }: FleetGroup): string {
  const signs = cells.map(({ change }) => SIGNS[change]);
  if (signs.length <= MAX_CELLS) return signs.join('');
  const moving = signs.filter((sign) => sign !== SIGNS.none);
  const shown = moving.slice(0, MAX_CELLS - 8);
  return `${shown.join('')}${moving.length > shown.length ? '…' : ''} of ${signs.length}`.trim();
}

function shortName(name: string, otherwise: string): string {
  if (name === '') return otherwise;
  const points = [...fenced(name)];
  return points.length > MAX_NAME ? `${points.slice(0, MAX_NAME - 1).join('')}…` : points.join('');
}
