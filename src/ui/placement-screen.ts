import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { DecisionChanges } from '@berth/placement/explain/verdict/explanation';
import type { HistoryView, PlacementView } from '../core/dashboard/placement-view.ts';
import { decisionTableHtml } from '../core/preview/report/decision-table-html.ts';
import type { CompactRecord, NameSummary } from '../core/publish/record/compact-record.ts';
import { useAnswer } from './answers.ts';
import { go } from './go.ts';
import { HoldBox } from './hold-box.ts';
import { counted, html, momentText, MOST_NAMED } from './html.ts';
import { Steps } from './story-list.ts';
import { clusterAddress } from './suggestions.ts';
import { VirtualRows } from './virtual-rows.ts';

interface PlacementScreenProps {
  readonly namespace: string;
  readonly name: string;
  readonly query: URLSearchParams;
}

/** `/p/NS/NAME`: where a placement runs and why. `?cluster=C` says why there, or why not. */
export function PlacementScreen({ namespace, name, query }: PlacementScreenProps): ComponentChildren {
  const path = `/placements/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  const { data, problem } = useAnswer<PlacementView>(path);
  const { data: history } = useAnswer<HistoryView>(`${path}/history`);
  const title = html`<h1><small>${namespace}/</small>${name}</h1>`;
  if (data === undefined)
    return html`${title}<p class=${problem === undefined ? 'quiet' : 'danger'}>${problem ?? 'Reading the decision …'}</p>`;
  const { table, held, published, hints, reschedulesAt, asks } = data;
  return html`${title}
    <p class="sentence"><${Sentence} view=${data} last=${history?.records[0]} /></p>
    <p>It asks for ${asks}.</p>
    ${held === undefined ? '' : html`<${HoldBox} key=${held.code} path=${path} of=${data} held=${held} />`}
    ${hints.map((hint) => html`<p class="warning">${hint}</p>`)}
    ${reschedulesAt === undefined ? '' : html`<p>It is decided again at ${momentText(reschedulesAt)}, when a toleration runs out.</p>`}
    <${WhyCluster} path=${path} page=${`/p/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`} cluster=${query.get('cluster') ?? ''} />
    <section class="decided" dangerouslySetInnerHTML=${{ __html: decisionTableHtml(table, { heading: 'h2', addressOf: clusterAddress }) }} />
    <section><h2>Published clusters <small>${published.length.toLocaleString('en')}</small></h2>
      ${published.length === 0 ? html`<p class="quiet">None.</p>` : html`<${Names} names=${published} />`}
      <p><a href=${`/?p=${namespace}/${name}`}>Show them on the map of the fleet</a></p></section>
    <${HistoryList} path=${path} history=${history} />`;
}

function Sentence({
  view,
  last,
}: {
  readonly view: PlacementView;
  readonly last: CompactRecord | undefined;
}): ComponentChildren {
  const { published, table, held } = view;
  const commit = last?.commit;
  const isSteady = held === undefined && published.length === table.selectedCount;
  return html`<strong>${published.length.toLocaleString('en')} of ${counted(table.clusterCount, 'cluster')}</strong>${last === undefined ? '' : html`, decided ${momentText(last.publishedAt)}`}${commit == null ? '' : html` by commit <code title=${`${commit.author}: ${commit.subject}`}>${commit.id.slice(0, 8)}</code>`}${held !== undefined ? html`; <strong class="danger">1 change held</strong>` : isSteady ? ', steady' : html`; <strong class="warning">${table.selectedCount} selected, not all published yet</strong>`}.`;
}

interface WhyClusterProps {
  readonly path: string;
  readonly page: string;
  readonly cluster: string;
}

/** Why the placement runs on a cluster, or why not, and what would change that. */
function WhyCluster({ path, page, cluster }: WhyClusterProps): ComponentChildren {
  const asked = cluster === '' ? undefined : `${path}/clusters/${encodeURIComponent(cluster)}`;
  const { data, problem, isLoading } = useAnswer<{
    readonly lines: readonly string[];
    readonly selected: boolean;
  }>(asked);
  const ask = (event: SubmitEvent): void => {
    event.preventDefault();
    const name = new FormData(event.target as HTMLFormElement).get('cluster');
    if (typeof name === 'string' && name.trim() !== '')
      go(`${page}?cluster=${encodeURIComponent(name.trim())}`);
  };
  return html`<form class="why" onSubmit=${ask}>
      <label>Why here, or why not? <input name="cluster" key=${cluster} value=${cluster} placeholder="name of a cluster" autocomplete="off" spellcheck=${false} /></label>
      <button>Explain</button></form>
    ${isLoading ? html`<p class="quiet">Asking …</p>` : ''}
    ${problem === undefined ? '' : html`<p class="danger">${cluster}: ${problem}</p>`}
    ${data === undefined ? '' : html`<pre class=${data.selected ? 'answer yes' : 'answer no'}>${data.lines.join('\n')}</pre>`}`;
}

const NAME_PX = 28;

function Names({ names }: { readonly names: readonly string[] }): ComponentChildren {
  const heights = useMemo(() => names.map(() => NAME_PX), [names]);
  return html`<${VirtualRows} label="Published clusters" heights=${heights}
    row=${(at: number) => html`<a href=${clusterAddress(names[at] ?? '')}>${names[at]}</a>`} />`;
}

function HistoryList({
  path,
  history,
}: {
  readonly path: string;
  readonly history: HistoryView | undefined;
}): ComponentChildren {
  const { data: causes } = useAnswer<Readonly<Record<string, DecisionChanges>>>(
    history === undefined || history.records.length < 2 ? undefined : `${path}/causes`,
  );
  if (history === undefined) return '';
  const { records, steps } = history;
  if (records.length === 0)
    return html`<section><h2>History</h2><p class="quiet">No publication is recorded yet.</p></section>`;
  const row = (record: CompactRecord): ComponentChildren => {
    const { hash, publishedAt, clusters, added, removed, commit, released } = record;
    return html`<tr key=${hash}><th scope="row"><time datetime=${publishedAt}>${momentText(publishedAt)}</time></th>
      <td class="number">${clusters.toLocaleString('en')}</td>
      <td>${summaryOf('+', 'joins', added)}${added.count * removed.count === 0 ? '' : ' '}${summaryOf('−', 'leaves', removed)}${added.count + removed.count === 0 ? html`<span class="quiet">no cluster moved</span>` : ''}</td>
      <td>${whyOf(causes?.[hash])}</td>
      <td>${commit == null ? '' : html`<code title=${`${commit.author}: ${commit.subject}`}>${commit.id.slice(0, 8)}</code> ${commit.subject}`}${released == null ? '' : html`<br /><small>released by ${released.by}</small>`}</td></tr>`;
  };
  return html`<section><h2>History</h2><div class="wide stack"><table>
    <thead><tr><th scope="col">When</th><th scope="col" class="number">Clusters</th><th scope="col">Change</th><th scope="col">Caused by</th><th scope="col">Commit, as read then</th></tr></thead>
    <tbody>${records.map(row)}</tbody></table></div>
    <details><summary>What happened to its clusters and works: ${counted(steps.length, 'step')}</summary><${Steps} steps=${steps} /></details></section>`;
}

function summaryOf(sign: string, kind: string, { count, names }: NameSummary): ComponentChildren {
  if (count === 0) return '';
  const more = count > MOST_NAMED ? ` and ${count - MOST_NAMED} more` : '';
  return html`<span class=${kind}>${sign}</span> ${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}

/** Each cause once. */
function whyOf(changes: DecisionChanges | undefined): string {
  const moves = [...(changes?.lost ?? []), ...(changes?.gained ?? [])];
  const causes = [...new Set(moves.flatMap((move) => move.causes))];
  const [first] = moves;
  if (causes.length === 0) return first === undefined ? '' : first.because;
  return `${causes.slice(0, 3).join(', ')}${causes.length > 3 ? ` and ${causes.length - 3} more` : ''}: ${first?.because ?? ''}`;
}
