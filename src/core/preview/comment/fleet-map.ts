import type { Plan } from '../plan.ts';
import { markup, fenced } from './foreign-text.ts';

const [CELL, GAP, PAD, COLUMN_CELLS] = [14, 3, 16, 12] as const;

/** What a plan does to one cluster, over all placements. */
export type CellChange = 'none' | 'gains' | 'loses' | 'both';

export interface FleetCell {
  readonly cluster: string;
  readonly change: CellChange;
  /** Whether a placement that changes selects it afterwards. */
  readonly runs: boolean;
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
  const running = new Set(placements.flatMap(({ after }) => after?.clusters ?? []));
  const groups = new Map<string, { set: string; region: string; cells: FleetCell[] }>();
  const counts = { none: 0, gains: 0, loses: 0, both: 0 };
  for (const { name: cluster, sets, region = '' } of fleet) {
    const [set = ''] = sets;
    const change = changeOf(gains.has(cluster), loses.has(cluster));
    counts[change]++;
    const key = JSON.stringify([set, region]);
    const group = groups.get(key) ?? { set, region, cells: [] };
    groups.set(key, group);
    group.cells.push({ cluster, change, runs: running.has(cluster) || gains.has(cluster) });
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

/** The sentence that describes the map to readers who cannot see it. */
export function fleetMapAlt({ counts }: FleetMap): string {
  const all = counts.none + counts.gains + counts.loses + counts.both;
  return `Map of ${all} clusters by set and region: gaining workloads: ${counts.gains}, losing workloads: ${counts.loses}, both: ${counts.both}, unchanged: ${counts.none}.`;
}

const PITCH = CELL + GAP;

const [MAX_SETS, MAX_REGIONS] = [40, 12] as const;

const [NO_SET, NO_REGION] = ['no set', 'no region'] as const;

const STYLE = `<style>
text{font:12px ui-sans-serif,system-ui,sans-serif}
.bg{fill:#fff;stroke:#d0d7de}.l{fill:#1f2328}.m{fill:#59636e}.s{fill:#fff;font-weight:700;text-anchor:middle}
.none{fill:none;stroke:#8c959f}.runs{fill:#818b98;stroke:#59636e}.gains{fill:#1a7f37}.loses{fill:#cf222e}.both{fill:#8250df}
@media (prefers-color-scheme:dark){
.bg{fill:#0d1117;stroke:#30363d}.l{fill:#e6edf3}.m{fill:#9198a1}.s{fill:#0d1117}
.none{stroke:#656c76}.runs{fill:#656c76;stroke:#9198a1}.gains{fill:#3fb950}.loses{fill:#f85149}.both{fill:#a371f7}}
</style>`;

/**
 * The map as a separate picture, without scripts and external content. Its colours follow the reader's light or dark
 * theme. A sign in each cell gives the same information without colour.
 */
export function fleetMapSvg(map: FleetMap): string {
  const [sets, regions] = [map.sets.slice(0, MAX_SETS), map.regions.slice(0, MAX_REGIONS)];
  const layout = layoutOf(map, sets, regions);
  const { first, columnWidth, width } = layout;
  const parts: string[] = regions.map((region, at) =>
    label(first + at * columnWidth, PAD + 10, labelText(region, NO_REGION)),
  );
  let y = PAD + 24;
  for (const set of sets) {
    parts.push(label(PAD, y + 11, labelText(set, NO_SET)));
    let rows = 1;
    for (const [at, region] of regions.entries()) {
      const group = map.groups.find((one) => one.set === set && one.region === region);
      if (group === undefined) continue;
      const drawn = groupCells(group, [first + at * columnWidth, y], layout);
      parts.push(...drawn.parts);
      rows = Math.max(rows, drawn.rows);
    }
    y += rows * PITCH + 10;
  }
  parts.push(
    `<text x="${PAD}" y="${y + 12}" class="m">+ gains workloads · − loses workloads · ± both</text>`,
    `<text x="${PAD}" y="${y + 28}" class="m">filled: stays on it · empty: not on it</text>`,
  );
  const left = map.sets.length - sets.length + map.regions.length - regions.length;
  if (left > 0)
    parts.push(`<text x="${PAD}" y="${y + 44}" class="m">${left} more sets and regions are not shown</text>`);
  const height = y + (left > 0 ? 56 : 40);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${markup(fleetMapAlt(map))}">`,
    STYLE,
    `<rect class="bg" width="${width}" height="${height}" rx="6"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

/** The maximum number of clusters drawn in one group. The others are only counted. */
const MAX_CELLS = 120;

const SIGNS: Readonly<Record<CellChange, string>> = { none: '', gains: '+', loses: '−', both: '±' };

function groupCells(
  { cells }: FleetGroup,
  [left, top]: readonly [x: number, y: number],
  { isNamed }: Pick<MapLayout, 'isNamed'>,
): { readonly parts: readonly string[]; readonly rows: number } {
  // If not all clusters fit, changed ones are drawn first.
  const ordered =
    cells.length <= MAX_CELLS
      ? cells
      : cells.toSorted((a, b) => Number(a.change === 'none') - Number(b.change === 'none'));
  const shown = ordered.slice(0, MAX_CELLS);
  const perRow = isNamed ? 1 : COLUMN_CELLS;
  const parts = shown.map(({ cluster, change, runs }, at) => {
    const [x, y] = [left + (at % perRow) * PITCH, top + Math.floor(at / perRow) * PITCH];
    const sign =
      change === 'none' ? '' : `<text x="${x + CELL / 2}" y="${y + 11}" class="s">${SIGNS[change]}</text>`;
    const name = isNamed ? label(x + CELL + 5, y + 11, labelText(cluster, '')) : '';
    const kind = change === 'none' && runs ? 'runs' : change;
    return `<g><title>${markup(cellTitle({ cluster, change, runs }))}</title><rect x="${x + 0.5}" y="${y + 0.5}" width="${CELL - 1}" height="${CELL - 1}" rx="3" class="${kind}"/>${sign}${name}</g>`;
  });
  let rows = Math.ceil(shown.length / perRow);
  if (cells.length > shown.length) {
    parts.push(
      `<text x="${left}" y="${top + rows * PITCH + 11}" class="m">and ${cells.length - shown.length} more</text>`,
    );
    rows += 1;
  }
  return { parts, rows };
}

/** `c1: gains workloads` */
function cellTitle({ cluster, change, runs }: FleetCell): string {
  const texts = {
    none: runs ? 'stays' : 'not concerned',
    gains: 'gains',
    loses: 'loses',
    both: 'gains and loses',
  };
  return `${cluster}: ${texts[change]}${change === 'none' ? '' : ' workloads'}`;
}

/** Cells of a map with more clusters have no names. */
const MAX_NAMED_CELLS = 30;

/** The largest width of a character, and the smallest width of the picture, which the legend needs. */
const [CHARACTER_WIDTH, MIN_WIDTH] = [7, 320] as const;

interface MapLayout {
  readonly first: number;
  readonly columnWidth: number;
  readonly width: number;
  /** The name of a cluster is beside its cell. */
  readonly isNamed: boolean;
}

/** As narrow as its contents allow: a forge shrinks a wide picture on a small screen until nobody can read it. */
function layoutOf({ groups }: FleetMap, sets: readonly string[], regions: readonly string[]): MapLayout {
  const widest = (names: readonly string[], otherwise: string): number =>
    Math.max(0, ...names.map((name) => [...labelText(name, otherwise)].length)) * CHARACTER_WIDTH;
  const first = PAD + widest(sets, NO_SET) + PAD;
  const names = groups.flatMap(({ cells }) => cells.map(({ cluster }) => cluster));
  const isNamed = names.length <= MAX_NAMED_CELLS;
  const cells = Math.min(COLUMN_CELLS, Math.max(1, ...groups.map((group) => group.cells.length)));
  const content = isNamed ? PITCH + 2 + widest(names, '') : cells * PITCH;
  const columnWidth = Math.max(content, widest(regions, NO_REGION)) + PAD;
  const width = Math.max(MIN_WIDTH, first + Math.max(regions.length, 1) * columnWidth);
  return { first, columnWidth, width, isNamed };
}

function labelText(name: string, otherwise: string): string {
  return name === '' ? otherwise : name.length > 20 ? `${name.slice(0, 19)}…` : name;
}

function label(x: number, y: number, text: string): string {
  return `<text x="${x}" y="${y}" class="l">${markup(text)}</text>`;
}

const MAX_TEXT_REGIONS = 6;

const MAX_TEXT_SETS = 20;

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
  const [rows, columns] = [pick(sets, 'set', MAX_TEXT_SETS), pick(regions, 'region', MAX_TEXT_REGIONS)];
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
    ...(groups.some(({ cells }) => cells.length > MAX_TEXT_CELLS)
      ? ['For example, +3 −2 of 60: of 60 clusters, 3 gain workloads and 2 lose some']
      : []),
  ].join('\n');
}

const TEXT_SIGNS: Readonly<Record<CellChange, string>> = { none: '·', gains: '+', loses: '−', both: '±' };

/** A larger group counts its clusters by sign. */
const MAX_TEXT_CELLS = 24;

/** A larger group: `+3 −2 of 60`. */
function cellsText({ cells }: FleetGroup): string {
  if (cells.length <= MAX_TEXT_CELLS) return cells.map(({ change }) => TEXT_SIGNS[change]).join('');
  const counts = CHANGES.flatMap((kind) => {
    const count = cells.filter(({ change }) => change === kind).length;
    return count === 0 ? [] : [`${TEXT_SIGNS[kind]}${count}`];
  });
  return counts.length === 0
    ? `${TEXT_SIGNS.none} all ${cells.length}`
    : `${counts.join(' ')} of ${cells.length}`;
}

const CHANGES = ['gains', 'loses', 'both'] as const;

const MAX_NAME = 24;

function shortName(name: string, otherwise: string): string {
  if (name === '') return otherwise;
  const points = [...fenced(name)];
  return points.length > MAX_NAME ? `${points.slice(0, MAX_NAME - 1).join('')}…` : points.join('');
}
