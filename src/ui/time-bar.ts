import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FleetMove } from '../core/dashboard/fleet-moves.ts';
import { counted, html, momentText } from './html.ts';

/** Where the bar ends, which is now, and where the last move is on it. */
const [NOW, LAST] = [1_000, 960] as const;
/** Long enough to read one move. */
const STEP_MS = 1_200;

interface TimeBarProps {
  /** The oldest first. */
  readonly moves: readonly FleetMove[];
  /** The number of the move that is shown; their count: now. */
  readonly at: number;
  readonly choose: (number: number) => void;
}

/** A bar from the first move that is recorded until now. Arrow keys go from move to move; Replay goes by itself. */
export function TimeBar({ moves, at, choose }: TimeBarProps): ComponentChildren {
  const [isPlaying, setPlaying] = useState(false);
  const places = useMemo(() => placesOf(moves), [moves]);
  useEffect(() => {
    if (!isPlaying) return;
    if (at >= moves.length) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => choose(at + 1), STEP_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, at, moves.length, choose]);
  if (moves.length === 0) return '';
  const go = (number: number): void => {
    setPlaying(false);
    choose(Math.min(moves.length, Math.max(0, number)));
  };
  const press = (event: KeyboardEvent): void => {
    const next: Readonly<Record<string, number>> = {
      ...{ ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1 },
      ...{ PageDown: at - 10, PageUp: at + 10, Home: 0, End: moves.length },
    };
    const number = next[event.key];
    if (number === undefined) return;
    event.preventDefault();
    go(number);
  };
  const slide = (event: InputEvent): void =>
    go(nearest(places, Number((event.target as HTMLInputElement).value)));
  const replay = (): void => {
    if (!isPlaying && at >= moves.length) choose(0);
    setPlaying(!isPlaying);
  };
  const move = moves[at];
  const words =
    move === undefined
      ? `Now, after ${counted(moves.length, 'move')}`
      : `${momentText(move.at)}: ${move.placement} ${move.detail}`;
  return html`<div class="time">
    <div class="moments"><svg viewBox="0 0 ${NOW} 22" preserveAspectRatio="none" aria-hidden="true">${places
      .slice(0, -1)
      .map(
        (x, number) =>
          html`<line key=${number} class=${number === at ? 'now' : ''} x1=${x} x2=${x} y1=${number === at ? 0 : 8} y2="22" />`,
      )}</svg>
      <input type="range" min="0" max=${NOW} step="1" value=${places[at]} aria-label="Moment of the fleet" aria-valuetext=${words} onInput=${slide} onKeyDown=${press} /></div>
    <div class="moment"><button type="button" aria-pressed=${isPlaying} onClick=${replay}>${isPlaying ? 'Stop' : 'Replay'}</button>
      <span>${move === undefined ? html`<span class="quiet">${words}</span>` : html`<time datetime=${move.at} title=${move.at}>${momentText(move.at)}</time> <small>${at + 1} of ${moves.length.toLocaleString('en')}</small> <a href=${`/p/${move.placement}`}>${move.placement}</a> ${move.detail}`}</span>
      ${move === undefined ? '' : html`<button type="button" onClick=${() => go(moves.length)}>Now</button>`}</div>
  </div>`;
}

/** Where each move is on the bar, in the measure of its time, and last where now is. */
function placesOf(moves: readonly FleetMove[]): readonly number[] {
  const times = moves.map(({ at }) => Date.parse(at));
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const x = (time: number): number =>
    last === first ? 0 : Math.round(((time - first) / (last - first)) * LAST);
  return [...times.map(x), NOW];
}

function nearest(places: readonly number[], wanted: number): number {
  const distances = places.map((place) => Math.abs(place - wanted));
  return distances.lastIndexOf(Math.min(...distances));
}
