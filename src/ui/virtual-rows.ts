import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { html } from './html.ts';

interface VirtualRowsProps {
  readonly label: string;
  /** In pixels, for each row. */
  readonly heights: readonly number[];
  readonly row: (at: number) => ComponentChildren;
  /** The row that must be seen. */
  readonly shown?: number | undefined;
}

/** Rows beyond the edges that are drawn already. */
const MARGIN_PX = 300;

/** A list of any length in a box that scrolls: only the rows in sight are elements of the page. */
export function VirtualRows({ label, heights, row, shown }: VirtualRowsProps): ComponentChildren {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const tops = useMemo(() => {
    let top = 0;
    return heights.map((height) => (top += height) - height);
  }, [heights]);
  const total = (tops.at(-1) ?? 0) + (heights.at(-1) ?? 0);
  const look = (): void => {
    const { scrollTop: top = 0, clientHeight: height = 0 } = box.current ?? {};
    setView({ top, height });
  };
  useEffect(() => {
    look();
    addEventListener('resize', look);
    return () => removeEventListener('resize', look);
  }, []);
  useEffect(() => {
    const element = box.current;
    if (shown === undefined || element === null) return;
    const [top = 0, height = 0] = [tops[shown], heights[shown]];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight)
      element.scrollTop = top + height - element.clientHeight;
  }, [shown, tops]);
  const first = firstAfter(tops, view.top - MARGIN_PX);
  const last = firstAfter(tops, view.top + view.height + MARGIN_PX);
  const rows = Array.from({ length: last - first }, (_, at) => first + at);
  return html`<div class="rows" role="list" aria-label=${label} tabindex="0" ref=${box} onScroll=${look}>
    <div style=${{ height: `${total}px`, position: 'relative' }}>
      ${rows.map(
        (at) =>
          html`<div class="row" role="listitem" key=${at} style=${{ top: `${tops[at]}px`, height: `${heights[at]}px` }}>
            ${row(at)}
          </div>`,
      )}
    </div>
  </div>`;
}

/** The number of rows that begin before the position. */
function firstAfter(tops: readonly number[], position: number): number {
  let [low, high] = [0, tops.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tops[middle] ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return position <= 0 ? 0 : low;
}
