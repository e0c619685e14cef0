import type { ComponentChildren } from 'preact';
import type { ClusterDetails, ClusterView } from '../core/dashboard/cluster-view.ts';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import { useAnswer } from './answers.ts';
import { counted, html, momentText } from './html.ts';
import { Steps } from './story-list.ts';
import { placementAddress, whatIfAddress } from './suggestions.ts';

/** The reasons of so many placements are asked for; the others have a link. */
const MOST_EXPLAINED = 20;

/** `/c/NAME`: what runs on a cluster and why, and what would leave if it were drained. */
export function ClusterScreen({ name }: { readonly name: string }): ComponentChildren {
  const { data, problem } = useAnswer<ClusterView>(`/clusters/${encodeURIComponent(name)}`);
  if (data === undefined)
    return html`<h1>${name}</h1><p class=${problem === undefined ? 'quiet' : 'danger'}>${problem ?? 'Reading the cluster …'}</p>`;
  const { state, sets, region, taints, placements, details, steps } = data;
  return html`<h1>${name}</h1>
    <p class="sentence"><strong class=${state === 'available' ? 'good' : 'warning'}>${state}</strong>, ${sets.length === 0 ? 'in no set' : `in ${sets.join(', ')}`}${region === undefined ? '' : `, region ${region}`}; ${counted(placements.length, 'placement runs', 'placements run')} here.</p>
    <p class="actions"><a class="button" href=${whatIfAddress({ drain: name })}>What would leave if it were drained?</a> <a class="button" href=${whatIfAddress({ lose: name })}>And if it were lost?</a></p>
    ${taints.length === 0 ? '' : html`<p>Taints: ${taints.map((taint, at) => html`${at === 0 ? '' : ', '}<code>${taint}</code>`)}</p>`}
    <section><h2>What runs here, and why</h2>
      ${
        placements.length === 0
          ? html`<p class="quiet">No placement that you may see.</p>`
          : html`<div class="wide stack"><table><thead><tr><th scope="col">Placement</th><th scope="col">Why here</th></tr></thead><tbody>
      ${placements.map((ref, at) => html`<${PlacementRow} key=${`${ref.namespace}/${ref.name}`} of=${ref} cluster=${name} isExplained=${at < MOST_EXPLAINED} />`)}</tbody></table></div>`
      }</section>
    ${details === undefined ? '' : html`<${Details} of=${details} />`}
    <section><h2>What happened</h2><${Steps} steps=${steps} /></section>`;
}

interface PlacementRowProps {
  readonly of: PlacementRef;
  readonly cluster: string;
  readonly isExplained: boolean;
}

function PlacementRow({ of: ref, cluster, isExplained }: PlacementRowProps): ComponentChildren {
  const path = `/placements/${encodeURIComponent(ref.namespace)}/${encodeURIComponent(ref.name)}/clusters/${encodeURIComponent(cluster)}`;
  const { data, isLoading } = useAnswer<{ readonly lines: readonly string[]; readonly selected: boolean }>(
    isExplained ? path : undefined,
  );
  const line = data?.lines.find((text) => text.startsWith('  '))?.trim();
  return html`<tr><th scope="row"><a href=${placementAddress(ref)}>${ref.namespace}/${ref.name}</a></th>
    <td>${data?.selected === false ? html`<span class="warning">not selected any more, and not removed yet:</span> ` : ''}${line ?? (isLoading ? html`<span class="quiet">…</span>` : '')} <a href=${`${placementAddress(ref)}?cluster=${encodeURIComponent(cluster)}`}>more</a></td></tr>`;
}

function Details({ of: details }: { readonly of: ClusterDetails }): ComponentChildren {
  const { labels, claims, version, lastLease, works, addOns } = details;
  const pairs = (title: string, values: Readonly<Record<string, string>>): ComponentChildren =>
    Object.keys(values).length === 0
      ? ''
      : html`<details><summary>${counted(Object.keys(values).length, title)}</summary><ul>${Object.entries(values).map(([key, value]) => html`<li><code>${key}=${value}</code></li>`)}</ul></details>`;
  return html`<section><h2>The cluster</h2>
    <p>${version === '' ? 'It has not said its version' : `Kubernetes ${version}`}; last sign of life ${lastLease === undefined ? 'not known' : momentText(lastLease)}; add-ons: ${addOns === undefined ? 'Berth may not read them' : addOns.length === 0 ? 'none' : addOns.map(({ name, state }) => `${name} (${state})`).join(', ')}.</p>
    ${works.length === 0 ? '' : html`<details><summary>${counted(works.length, 'work')}</summary><div class="wide stack"><table><thead><tr><th scope="col">Work</th><th scope="col">Applied</th><th scope="col">Available</th><th scope="col">Placement</th></tr></thead><tbody>${works.map((work) => html`<tr><th scope="row">${work.name}</th><td>${work.applied}</td><td>${work.available}</td><td>${work.placement === '' ? '' : html`<a href=${`/p/${work.placement}`}>${work.placement}</a>`}</td></tr>`)}</tbody></table></div></details>`}
    ${pairs('label', labels)}${pairs('claim', claims)}</section>`;
}
