import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { PlacementHold, PlacementView } from '../core/dashboard/placement-view.ts';
import { approve, useAnswer } from './answers.ts';
import { html, MOST_NAMED } from './html.ts';
import { clusterAddress } from './suggestions.ts';

interface HoldBoxProps {
  /** Of the placement, below `/ui/api`. */
  readonly path: string;
  readonly of: Pick<PlacementView, 'namespace' | 'name'>;
  readonly held: PlacementHold;
}

/** What is held, what it would do, and how it is approved: here by those who may, and by a command. */
export function HoldBox({ path, of, held }: HoldBoxProps): ComponentChildren {
  const { reason, message, code, added, removed } = held;
  return html`<div class="held"><h2>Held: ${reason}</h2><p>${message}</p>
    ${removed.length === 0 ? '' : html`<p><span class="leaves">− leaves</span> ${shortList(removed)}</p>`}
    ${added.length === 0 ? '' : html`<p><span class="joins">+ joins</span> ${shortList(added)}</p>`}
    ${code === undefined ? html`<p class="quiet">It ends by itself.</p>` : html`<${Approval} path=${path} of=${of} held=${{ ...held, code }} />`}
  </div>`;
}

function Approval({
  path,
  of,
  held,
}: HoldBoxProps & { readonly held: { readonly code: string } }): ComponentChildren {
  const { code, effect, removed } = held;
  const { data: right } = useAnswer<{ readonly allowed: boolean }>(`${path}/release`, false);
  const [state, setState] = useState<'open' | 'sending' | 'approved'>('open');
  const [problem, setProblem] = useState<string>();
  const [isCopied, setCopied] = useState(false);
  const question = useRef<HTMLDialogElement>(null);
  const command = `berth release ${of.namespace}/${of.name} --token ${code}`;
  const copy = (): void => void navigator.clipboard?.writeText(command).then(() => setCopied(true));
  const send = async (): Promise<void> => {
    setState('sending');
    const refused = await approve(path, code);
    question.current?.close();
    setProblem(refused);
    setState(refused === undefined ? 'approved' : 'open');
  };
  if (state === 'approved')
    return html`<p class="good" role="status">You approved it. Berth does it now.</p>`;
  const button =
    right?.allowed === true
      ? html`<p class="actions"><button type="button" onClick=${() => question.current?.showModal()}>Approve …</button></p>`
      : right === undefined
        ? ''
        : html`<p class="quiet">You may not approve it: this needs the right to <code>patch</code> this placement.</p>`;
  return html`${button}
    ${problem === undefined ? '' : html`<p class="danger" role="alert">Not approved: ${problem}</p>`}
    <p>On the command line:</p><p class="command"><code>${command}</code> <button type="button" onClick=${copy}>${isCopied ? 'Copied' : 'Copy'}</button></p>
    <dialog ref=${question} aria-labelledby="approve"><h2 id="approve">Approve this change of ${of.namespace}/${of.name}?</h2>
      <p class="effect"><strong>${effect}</strong></p>
      ${removed.length === 0 ? '' : html`<p>What its works, Applications and add-ons deployed there is deleted. Another decision can deploy it again, without the data that was only there.</p>`}
      <p>You approve exactly this change, as code <code>${code}</code>. If the decision changes meanwhile, nothing happens, and it is held again. Your name goes into the history.</p>
      <p class="actions"><button type="button" disabled=${state === 'sending'} onClick=${() => void send()}>Approve this change</button> <button type="button" autofocus onClick=${() => question.current?.close()}>Cancel</button></p></dialog>`;
}

function shortList(names: readonly string[]): ComponentChildren {
  const more = names.length - MOST_NAMED;
  return html`${names.slice(0, MOST_NAMED).map((name, at) => html`${at === 0 ? '' : ', '}<a href=${clusterAddress(name)}>${name}</a>`)}${more > 0 ? ` and ${more} more` : ''}`;
}
