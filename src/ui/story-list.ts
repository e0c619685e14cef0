import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { TimelineStep } from '../core/timeline/timeline.ts';
import { html, momentText } from './html.ts';
import { clusterAddress } from './suggestions.ts';
import { VirtualRows } from './virtual-rows.ts';

/** On a phone a step has two lines. */
const [STEP_PX, NARROW_STEP_PX, NARROW_PX] = [34, 56, 640] as const;

interface StepsProps {
  readonly steps: readonly TimelineStep[];
  /** Shown first: a text of a time, a cluster or a placement. */
  readonly at?: string | undefined;
}

/** Steps with a filter by time, cluster, placement or word. */
export function Steps({ steps, at = '' }: StepsProps): ComponentChildren {
  const [text, setText] = useState(at);
  const shown = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return steps.filter((step) => textOf(step).includes(wanted));
  }, [steps, text]);
  const heights = useMemo(
    () => shown.map(() => (innerWidth <= NARROW_PX ? NARROW_STEP_PX : STEP_PX)),
    [shown],
  );
  if (steps.length === 0) return html`<p class="quiet">Nothing is recorded yet.</p>`;
  const row = (number: number): ComponentChildren => {
    const step = shown[number];
    if (step === undefined) return null;
    const { cluster, placement, detail } = step;
    return html`<div class="step"><time datetime=${step.at} title=${step.at}>${momentText(step.at)}</time>
      <strong>${step.step.replace('-', ' ')}</strong>
      <span>${placement === undefined ? '' : html`<a href=${`/p/${placement}`}>${placement}</a> `}${cluster === undefined || step.step === 'decision-moved' ? '' : html`<a href=${clusterAddress(cluster)}>${cluster}</a> `}<span class="quiet">${detail}</span></span></div>`;
  };
  return html`<input type="search" class="filter" placeholder="Filter: 14:02, a cluster, a placement, taint" aria-label="Filter what happened" value=${text}
      onInput=${(event: InputEvent) => setText((event.target as HTMLInputElement).value)} />
    ${shown.length === 0 ? html`<p class="quiet">Nothing that is recorded fits “${text}”.</p>` : html`<${VirtualRows} label="What happened, newest first" heights=${heights} row=${row} />`}`;
}

function textOf({ at, step, cluster, placement, detail }: TimelineStep): string {
  return [momentText(at), step.replace('-', ' '), cluster, placement, detail].join(' ').toLowerCase();
}
