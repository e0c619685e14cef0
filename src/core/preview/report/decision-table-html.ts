import type {
  CutLine,
  DecisionPoints,
  DecisionRow,
  DecisionTable,
  RefusedClusters,
  RefusedReason,
} from '@berth/placement/explain/text/decision-table';
import { markup } from '../comment/foreign-text.ts';
import { formatCount } from '../plan-text.ts';
import { fold, listOf } from './html.ts';

export interface DecisionTableOptions {
  /** The element of the title, so that the headings of the page around it stay in order. Default: `h3`. */
  readonly heading?: 'h2' | 'h3' | undefined;
  /** The address of the page of a cluster. Absent: names are no links. */
  readonly addressOf?: ((cluster: string) => string) | undefined;
}

/**
 * A decision as an HTML table: above the cut the selected clusters, below it the next in line, then the refused ones by
 * filter. `DECISION_STYLE` is its style sheet. It needs no script.
 */
export function decisionTableHtml(
  table: DecisionTable,
  { heading = 'h3', addressOf }: DecisionTableOptions = {},
): string {
  const nameOf: NameOf = (cluster) =>
    addressOf === undefined
      ? markup(cluster)
      : `<a href="${markup(addressOf(cluster), Infinity)}">${markup(cluster)}</a>`;
  const { placement, selectedCount, clusterCount, message } = table;
  const name = markup(`${placement.namespace}/${placement.name}`);
  const title = `<${heading}><code>${name}</code>: ${selectedCount} of ${formatCount(clusterCount, 'cluster')}</${heading}>`;
  const note = message === '' ? '' : `<p class="warning">${markup(message)}</p>`;
  const isRanked = table.selected.length + table.next.length > 0;
  return `<article>${title}${note}${isRanked ? rankedHtml(table, nameOf) : ''}${table.refused.map((one) => refusedHtml(one, nameOf)).join('')}</article>`;
}

/** The name of a cluster as HTML. */
type NameOf = (cluster: string) => string;

/** The width of the table, and of its bars. */
interface RowLayout {
  readonly columns: number;
  /** The largest number of points, without sign. */
  readonly most: number;
  readonly hasFlips: boolean;
  readonly nameOf: NameOf;
}

function rankedHtml(
  { prioritizers, selected, selectedCount, cut, next, moreNext }: DecisionTable,
  nameOf: NameOf,
): string {
  const rows = [...selected, ...next];
  const hasFlips = rows.some(({ flipsIf }) => flipsIf !== '');
  const most = Math.max(1, ...rows.flatMap(({ points }) => points.map((one) => Math.abs(one.points))));
  const heads = [
    ...['Cluster', 'Points', ...prioritizers.map(({ name, weight }) => `${name} × ${weight}`)],
    ...(hasFlips ? ['Flips if'] : []),
  ];
  const layout = { columns: heads.length, most, hasFlips, nameOf };
  const part = (title: string, kind: string, content: readonly string[]): string =>
    `<tbody><tr class="part${kind}"><th scope="rowgroup" colspan="${layout.columns}">${title}</th></tr>\n${content.join('\n')}</tbody>`;
  const inLine = [
    ...rowsOf(next, layout),
    ...(moreNext === 0 ? [] : [gapRow(`${moreNext} more in line`, layout)]),
  ];
  const parts = [
    part(`Selected: ${selectedCount}`, '', rowsOf(selected, layout)),
    part(markup(cutText(cut)), cut.kind === 'none' ? ' uncut' : ' cut', []),
    ...(next.length === 0 ? [] : [part('Next in line', '', inLine)]),
  ];
  const head = heads.map((text) => `<th scope="col">${markup(text)}</th>`).join('');
  return `<div class="wide"><table class="decision"><thead><tr>${head}</tr></thead>\n${parts.join('\n')}\n</table></div>`;
}

function rowsOf(rows: readonly DecisionRow[], layout: RowLayout): readonly string[] {
  return rows.flatMap(({ cluster, rank, total, omittedBefore, change, points, flipsIf }) => {
    const mark = change === undefined ? '' : ` <span class="${change}">${MARKS[change]}</span>`;
    const row = [
      `<th scope="row"><span class="rank">${rank}.</span> ${layout.nameOf(cluster)}${mark}</th>`,
      `<td class="number">${signed(total)}</td>`,
      ...points.map((one) => `<td>${pointsHtml(one, layout.most)}</td>`),
      ...(layout.hasFlips ? [`<td class="flips">${markup(flipsIf)}</td>`] : []),
    ].join('');
    const gap = omittedBefore === 0 ? [] : [gapRow(`${omittedBefore} more selected`, layout)];
    return [...gap, `<tr>${row}</tr>`];
  });
}

/** With the sign that is as wide as a digit. */
function signed(number: number): string {
  return String(number).replace('-', '−');
}

const MARKS = { joins: '+ joins', leaves: '− leaves' } as const;

function gapRow(text: string, { columns }: RowLayout): string {
  return `<tr class="gap"><td colspan="${columns}">… ${text}</td></tr>`;
}

function pointsHtml({ score, points, state }: DecisionPoints, most: number): string {
  const width = Math.round((Math.abs(points) / most) * 100);
  const kind = `${points < 0 ? ' minus' : ''}${state === 'valid' ? '' : ' doubtful'}`;
  const note = state === 'valid' ? '' : ` <span class="warning">${state}</span>`;
  return `<span class="track" title="score ${signed(score)}"><span class="bar${kind}" style="width:${width}%"></span></span> ${signed(points)}${note}`;
}

/** The line between the selected clusters and the others, as a sentence. */
function cutText(cut: CutLine): string {
  switch (cut.kind) {
    case 'none':
      return 'No cut: every cluster that passes the filters is selected';
    case 'free':
      return `${formatCount(cut.places, 'place stays', 'places stay')} free: every cluster that passes is selected`;
    case 'score':
      return `The cut: a cluster needs more than the ${signed(cut.total)} points of ${cut.cluster}`;
    case 'spread':
      return 'The cut: the spread decides beside the points';
  }
}

function refusedHtml({ gate, count, reasons }: RefusedClusters, nameOf: NameOf): string {
  const [only, ...others] = reasons;
  const why = only !== undefined && others.length === 0 ? `: ${markup(only.text)}` : '';
  return fold(
    `Refused by ${markup(gate)}: ${formatCount(count, 'cluster')}${why}`,
    listOf(reasons.map((one) => reasonHtml(one, nameOf))),
  );
}

function reasonHtml({ text, count, clusters, leaving, flipsIf }: RefusedReason, nameOf: NameOf): string {
  const isLeaving = new Set(leaving);
  const names = clusters.map((name) =>
    isLeaving.has(name) ? `${nameOf(name)} <span class="leaves">${MARKS.leaves}</span>` : nameOf(name),
  );
  const rest = count > clusters.length ? ` and ${count - clusters.length} more` : '';
  const flips = flipsIf === '' ? '' : `<br>Flips if you ${markup(flipsIf)}`;
  return `${count} ${markup(text)}${names.length === 0 ? '' : ': '}${names.join(', ')}${names.length === 0 ? '' : rest}${flips}`;
}

/** Uses the colours of the page: `--line`, `--soft`, `--muted`, `--good`, `--danger`. */
export const DECISION_STYLE = [
  '.decision td,.decision th{white-space:nowrap}.decision .flips{white-space:normal;min-width:14rem}',
  '.number{text-align:right;font-variant-numeric:tabular-nums}.rank{color:var(--muted);font-weight:400}',
  '.decision thead th{font-weight:400;color:var(--muted)}',
  '.part th{background:var(--soft);font-size:.9rem}.uncut th{color:var(--muted)}.cut th{border-top:2px solid var(--danger);border-bottom:2px solid var(--danger)}',
  '.gap td{color:var(--muted)}',
  '.joins,.leaves{font-size:.85rem;font-weight:600;white-space:nowrap}.joins{color:var(--good)}.leaves{color:var(--danger)}',
  '.track{display:inline-block;width:5rem;height:.55rem;background:var(--soft);border:1px solid var(--line);vertical-align:middle}',
  '.bar{display:block;height:100%;background:var(--bar)}.minus{background:var(--danger);margin-left:auto}',
  '.doubtful{background:repeating-linear-gradient(135deg,var(--warning) 0 2px,transparent 2px 5px)}',
].join('');
