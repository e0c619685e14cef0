import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { fleetMoves, type Mark, marksAt } from '../core/dashboard/fleet-moves.ts';
import type { ClusterState, FleetPlacement, FleetView } from '../core/dashboard/fleet-view.ts';
import type { PlacementView } from '../core/dashboard/placement-view.ts';
import type { TimelineStep } from '../core/timeline/timeline.ts';
import { useAnswer } from './answers.ts';
import { FleetMap, SIGNS } from './fleet-map.ts';
import { counted, html, momentText } from './html.ts';
import { Steps } from './story-list.ts';
import { placementAddress } from './suggestions.ts';
import { TimeBar } from './time-bar.ts';
import { VirtualRows } from './virtual-rows.ts';

/**
 * `/`: the fleet on one page. `?p=NS/NAME` shows where a placement runs, `?t=2026-11-28T14:02:11Z` where it ran or what moved then, and
 * `?at=14:02` what is recorded of that time.
 */
export function FleetScreen({ query }: { readonly query: URLSearchParams }): ComponentChildren {
  const { data: fleet, problem } = useAnswer<FleetView>('/fleet');
  const [state, setState] = useState<ClusterState>();
  const chosen = query.get('p') ?? undefined;
  const { data: placement } = useAnswer<PlacementView>(
    chosen === undefined ? undefined : `/placements/${chosen.split('/').map(encodeURIComponent).join('/')}`,
  );
  const { data: story, problem: storyProblem } = useAnswer<Story>('/story');
  const [moment, setMoment] = useState(query.get('t') ?? '');
  const moves = useMemo(() => fleetMoves(story?.steps ?? [], chosen), [story, chosen]);
  // The last move until then: a moment need not be that of a move.
  const at = moment === '' ? moves.length : moves.findLastIndex((move) => move.at <= moment);
  const move = moves[at];
  const marks = useMemo(
    () =>
      move === undefined
        ? placement && marksOf(placement)
        : marksAt(moves, at, chosen === undefined ? undefined : placement?.published),
    [placement, moves, move, at, chosen],
  );
  const choose = (number: number): void => {
    const next = moves[number]?.at ?? '';
    setMoment(next);
    const wanted = new URLSearchParams({ ...(chosen && { p: chosen }), ...(next && { t: next }) });
    history.replaceState(
      undefined,
      '',
      `/${wanted.size === 0 ? '' : `?${wanted.toString().replaceAll('%2F', '/').replaceAll('%3A', ':')}`}`,
    );
  };
  if (fleet === undefined)
    return problem === undefined
      ? html`<p class="quiet">Reading the fleet …</p>`
      : html`<p class="danger">${problem}</p>`;
  const held = fleet.placements.filter((one) => one.held !== '').length;
  const wrong = fleet.placements.filter((one) => one.problem !== '').length;
  return html`<h1>Fleet</h1>
    <p class="sentence">${counted(fleet.clusters.length, 'cluster')}, ${counted(fleet.placements.length, 'placement')}${held === 0 ? '' : html`, <strong class="danger">${counted(held, 'change')} held</strong>`}${wrong === 0 ? '' : html`, <strong class="warning">${wrong === 1 ? '1 placement does' : `${wrong.toLocaleString('en')} placements do`} not have what ${wrong === 1 ? 'it asks' : 'they ask'} for</strong>`}.</p>
    <div class="columns">
      <section><h2>Clusters</h2>
        <${Legend} fleet=${fleet} state=${state} choose=${setState} />
        ${chosen === undefined ? '' : html`<p class="chosen">Where <a href=${`/p/${chosen}`}>${chosen}</a> ${move === undefined ? 'runs' : html`ran at <time datetime=${move.at}>${momentText(move.at)}</time>`}. <a href="/">Show all</a></p>`}
        ${fleet.clusters.length === 0 ? html`<p class="quiet">No cluster has joined that you may see: <code>berth join</code>.</p>` : html`<${FleetMap} fleet=${fleet} state=${state} marks=${marks} />`}
        <${TimeBar} moves=${moves} at=${move === undefined ? moves.length : at} choose=${choose} />
      </section>
      <section><h2>Placements</h2><${PlacementList} placements=${fleet.placements} chosen=${chosen} /></section>
    </div>
    ${story === undefined && storyProblem === undefined ? '' : html`<section><h2>What happened</h2>${story === undefined ? html`<p class="danger">${storyProblem}</p>` : html`<${Steps} steps=${story.steps} at=${query.get('at') ?? ''} />`}</section>`}`;
}

interface Story {
  readonly steps: readonly TimelineStep[];
}

function marksOf({ published, held }: PlacementView): ReadonlyMap<string, Mark> {
  const of = (names: readonly string[], mark: Mark) => names.map((name) => [name, mark] as const);
  return new Map([
    ...of(published, 'runs'),
    ...of(held?.added ?? [], 'gains'),
    ...of(held?.removed ?? [], 'loses'),
  ]);
}

interface LegendProps {
  readonly fleet: FleetView;
  readonly state: ClusterState | undefined;
  readonly choose: (state: ClusterState | undefined) => void;
}

/** The states with their numbers. A press shows only the clusters in that state. */
function Legend({ fleet, state, choose }: LegendProps): ComponentChildren {
  const counts = new Map<string, number>();
  for (const [, , , own] of fleet.clusters) counts.set(own, (counts.get(own) ?? 0) + 1);
  const states = (Object.keys(SIGNS) as ClusterState[]).filter((one) => counts.has(one));
  return html`<p class="legend">${states.map(
    (one) =>
      html`<button type="button" aria-pressed=${state === one} onClick=${() => choose(state === one ? undefined : one)}>
        <span class="square ${one.replace(' ', '-')}" aria-hidden="true">${SIGNS[one]}</span> ${(counts.get(one) ?? 0).toLocaleString('en')} ${one}</button>`,
  )}</p>`;
}

const ROW_PX = 34;

/** What needs attention first. */
function PlacementList({
  placements,
  chosen,
}: {
  readonly placements: readonly FleetPlacement[];
  readonly chosen: string | undefined;
}): ComponentChildren {
  const [text, setText] = useState('');
  const shown = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return placements
      .filter(({ namespace, name }) => `${namespace}/${name}`.toLowerCase().includes(wanted))
      .toSorted((a, b) => urgency(a) - urgency(b));
  }, [placements, text]);
  const heights = useMemo(() => shown.map(() => ROW_PX), [shown]);
  if (placements.length === 0) return html`<p class="quiet">There is no placement that you may see.</p>`;
  const row = (at: number): ComponentChildren => {
    const one = shown[at];
    if (one === undefined) return null;
    const key = `${one.namespace}/${one.name}`;
    const isChosen = key === chosen;
    return html`<div class="placement">
      <a class="name" href=${placementAddress(one)}><small>${one.namespace}/</small>${one.name}</a>
      <span class="note" title=${one.held === '' ? one.problem : one.held}>${one.held !== '' ? html`<strong class="danger">held</strong>` : one.problem === '' ? '' : html`<span class="warning">${one.problem.replace(/^\w+: /, '')}</span>`}</span>
      <span class="number">${one.clusters.toLocaleString('en')}<small> of ${one.wanted?.toLocaleString('en') ?? 'all'}</small></span>
      <a class="where" href=${isChosen ? '/' : `/?p=${key}`} aria-label="show where ${key} runs" aria-pressed=${isChosen}>map</a>
    </div>`;
  };
  return html`<input type="search" class="filter" placeholder="Filter by name" aria-label="Filter placements by name" value=${text}
      onInput=${(event: InputEvent) => setText((event.target as HTMLInputElement).value)} />
    <${VirtualRows} label="Placements" heights=${heights} row=${row} />`;
}

function urgency({ held, problem }: FleetPlacement): number {
  return held !== '' ? 0 : problem !== '' ? 1 : 2;
}
