import type { ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Mark } from '../core/dashboard/fleet-moves.ts';
import type { ClusterState, FleetSquare, FleetView } from '../core/dashboard/fleet-view.ts';
import { counted, html } from './html.ts';
import { clusterAddress } from './suggestions.ts';
import { VirtualRows } from './virtual-rows.ts';

/** Each state has a sign, so that nobody needs the colours. */
export const SIGNS: Readonly<Record<ClusterState, string>> = {
  available: '',
  tainted: '!',
  unavailable: '×',
  unknown: '?',
  'not accepted': '+',
  leaving: '−',
};

interface FleetMapProps {
  readonly fleet: FleetView;
  /** Only clusters in this state; undefined: all. */
  readonly state: ClusterState | undefined;
  /** Of a chosen placement or moment; undefined: none is chosen. */
  readonly marks: ReadonlyMap<string, Mark> | undefined;
}

type MapRow =
  | { readonly title: string; readonly count: number }
  | { readonly squares: readonly FleetSquare[] };

const [TITLE_PX, SQUARES_PX, SQUARE_PX] = [30, 22, 20] as const;

/** A square for each cluster, by set and region. Arrow keys go from one to the next. */
export function FleetMap({ fleet, state, marks }: FleetMapProps): ComponentChildren {
  const frame = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState(0);
  const perRow = Math.max(8, Math.floor(((frame.current?.clientWidth ?? innerWidth) - 24) / SQUARE_PX));
  const rows = useMemo(() => rowsOf(fleet, state, perRow), [fleet, state, perRow]);
  const heights = useMemo(() => rows.map((row) => ('title' in row ? TITLE_PX : SQUARES_PX)), [rows]);
  const order = useMemo(
    () => rows.flatMap((row, at) => ('title' in row ? [] : row.squares.map(([name]) => ({ name, at })))),
    [rows],
  );
  const move = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ...{ ArrowRight: 1, ArrowLeft: -1, ArrowDown: perRow, ArrowUp: -perRow },
      ...{ Home: -order.length, End: order.length },
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.min(order.length - 1, Math.max(0, focused + step));
    setFocused(next);
    // The row may have to be drawn first.
    setTimeout(() => frame.current?.querySelector<HTMLElement>('a[tabindex="0"]')?.focus());
  };
  const firstMoved = useMemo(
    () => order.find(({ name }) => ['gained', 'lost'].includes(marks?.get(name) ?? ''))?.at,
    [order, marks],
  );
  const current = order[focused] ?? order[0];
  const square = ([name, , , own]: FleetSquare): ComponentChildren => {
    const mark = marks?.get(name);
    const kind = `${own.replace(' ', '-')}${marks === undefined ? '' : mark === undefined ? ' dim' : ` ${mark}`}`;
    const what = mark === undefined ? own : `${own}, ${MARK_WORDS[mark]}`;
    return html`<a class="square ${kind}" href=${clusterAddress(name)} tabindex=${name === current?.name ? 0 : -1}
      title="${name}: ${what}" aria-label="${name}: ${what}">${mark === undefined ? SIGNS[own] : MARK_SIGNS[mark]}</a>`;
  };
  return html`<div ref=${frame} onKeyDown=${move} class="map">
    <${VirtualRows} label="Clusters by set and region" heights=${heights} shown=${focused === 0 ? firstMoved : current?.at}
      row=${(at: number) => {
        const row = rows[at];
        if (row === undefined) return null;
        if ('title' in row)
          return html`<h3 class="group">${row.title} <small>${counted(row.count, 'cluster')}</small></h3>`;
        return html`<div class="squares">${row.squares.map(square)}</div>`;
      }} />
  </div>`;
}

const MARK_SIGNS: Readonly<Record<Mark, string>> = {
  ...{ runs: '=', gains: '+', loses: '−' },
  ...{ ran: '=', gained: '+', lost: '−' },
};
const MARK_WORDS: Readonly<Record<Mark, string>> = {
  runs: 'the placement runs here',
  gains: 'the placement would come here',
  loses: 'the placement would leave',
  ran: 'the placement ran here',
  gained: 'the placement came here',
  lost: 'the placement left',
};

function rowsOf(fleet: FleetView, state: ClusterState | undefined, perRow: number): readonly MapRow[] {
  const groups = new Map<string, FleetSquare[]>();
  for (const square of fleet.clusters) {
    const [, set, region, own] = square;
    if (state !== undefined && own !== state) continue;
    const title = `${fleet.sets[set] ?? 'in no set'}${region < 0 ? '' : ` · ${fleet.regions[region] ?? ''}`}`;
    const group = groups.get(title);
    if (group === undefined) groups.set(title, [square]);
    else group.push(square);
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([title, squares]): readonly MapRow[] => [
      { title, count: squares.length },
      ...Array.from({ length: Math.ceil(squares.length / perRow) }, (_, at) => ({
        squares: squares.slice(at * perRow, (at + 1) * perRow),
      })),
    ]);
}
