import { type ComponentChildren, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FleetView } from '../core/dashboard/fleet-view.ts';
import { followChanges, logIn, logOut, readSession, type Session, useAnswer } from './answers.ts';
import { ChangeScreen } from './change-screen.ts';
import { ClusterScreen } from './cluster-screen.ts';
import { FleetScreen } from './fleet-screen.ts';
import { followLinks, go } from './go.ts';
import { html } from './html.ts';
import { PlacementScreen } from './placement-screen.ts';
import { suggestions } from './suggestions.ts';

/** The whole page: who is logged in, the search box, and the screen of the address. */
function App(): ComponentChildren {
  const [session, setSession] = useState<Session | 'nobody' | 'asking'>('asking');
  const [address, setAddress] = useState(location.pathname + location.search);
  const [isLive, setLive] = useState(true);
  const isKnown = typeof session === 'object';
  const ask = async (): Promise<void> => setSession((await readSession()) ?? 'nobody');
  useEffect(() => {
    void ask();
    const moved = (): void => setAddress(location.pathname + location.search);
    addEventListener('popstate', moved);
    return () => removeEventListener('popstate', moved);
  }, []);
  useEffect(() => (isKnown ? followChanges(setLive, () => setSession('nobody')) : undefined), [isKnown]);
  if (session === 'asking') return '';
  if (session === 'nobody') return html`<${Login} done=${ask} />`;
  const leave = (): void => void logOut().then(() => setSession('nobody'));
  return html`<header class="top"><a class="brand" href="/">Berth</a><${SearchBox} />
      <span class="who">${isLive ? '' : html`<span class="warning" role="status">not live</span>`}<span class="user" title=${session.username}>${session.username}</span>
      <button type="button" onClick=${leave}>Log out</button></span></header>
    ${session.allNamespaces && session.allClusters ? '' : html`<p class="quiet part">You see the namespaces whose placements you may get, and ${session.allClusters ? 'all clusters' : 'the clusters that they can select'}.</p>`}
    <main id="main"><${Screen} key=${address} address=${address} /></main>`;
}

function Screen({ address }: { readonly address: string }): ComponentChildren {
  const { pathname, searchParams: query } = new URL(address, location.origin);
  const [, first, ...rest] = pathname.split('/').map(decoded);
  const [one = '', two = ''] = rest;
  useEffect(() => {
    document.title = `${[...rest, ...query.values()].join(' ') || 'Fleet'} – Berth`;
  }, [address]);
  switch (first) {
    case '':
      return html`<${FleetScreen} query=${query} />`;
    case 'p':
      return html`<${PlacementScreen} namespace=${one} name=${two} query=${query} />`;
    case 'c':
      return html`<${ClusterScreen} name=${one} />`;
    default:
      return html`<${ChangeScreen} query=${query} />`;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Understands a cluster, a placement, `drain NAME`, `lose region:eu`, `add 3`, `pr 12`, `commit 1a2b3c4` and `14:02`. */
function SearchBox(): ComponentChildren {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  const { data: fleet } = useAnswer<FleetView>(isOpen ? '/fleet' : undefined);
  const found = isOpen ? suggestions(text, fleet) : [];
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== '/' || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')) return;
      event.preventDefault();
      box.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const choose = (number: number): void => {
    const chosen = found[number];
    if (chosen === undefined) return;
    setText('');
    setOpen(false);
    box.current?.blur();
    go(chosen.address);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') choose(at);
    else if (event.key === 'Escape') setOpen(false);
    else if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else return;
    event.preventDefault();
  };
  const type = (event: InputEvent): void => {
    setText((event.target as HTMLInputElement).value);
    setAt(0);
    setOpen(true);
  };
  return html`<div class="search"><input ref=${box} type="search" role="combobox" aria-expanded=${found.length > 0} aria-controls="found" aria-activedescendant=${found.length > 0 ? `found-${at}` : undefined}
      aria-label="Search: a cluster, a placement, drain NAME, lose region:eu, pr 12" placeholder="Search, or: drain NAME, lose region:eu, pr 12" autocomplete="off" spellcheck=${false}
      value=${text} onInput=${type} onKeyDown=${press} onFocus=${() => setOpen(true)} onBlur=${() => setOpen(false)} />
    ${
      found.length === 0
        ? ''
        : html`<ul id="found" role="listbox">${found.map(
            (one, number) =>
              html`<li id=${`found-${number}`} role="option" aria-selected=${number === at} onMouseDown=${() => choose(number)}>${one.text} <small>${one.kind}</small></li>`,
          )}</ul>`
    }</div>`;
}

function Login({ done }: { readonly done: () => Promise<void> }): ComponentChildren {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const token = new FormData(event.target as HTMLFormElement).get('token');
    const refused = await logIn(typeof token === 'string' ? token : '');
    setBusy(false);
    setProblem(refused);
    if (refused === undefined) await done();
  };
  return html`<main class="login"><h1>Berth</h1><p>Log in with a token of the hub. You see what its rights allow.</p>
    <form onSubmit=${send}><label>Token <input name="token" type="password" autocomplete="off" required autofocus /></label> <button disabled=${isBusy}>Log in</button></form>
    ${problem === undefined ? '' : html`<p class="danger" role="alert">${problem}</p>`}
    <p class="quiet">Your kubeconfig's token: <code>berth dashboard --print-token</code><br />One of a ServiceAccount: <code>kubectl create token NAME -n NAMESPACE</code></p></main>`;
}

followLinks();
const root = document.getElementById('app');
if (root !== null) render(html`<${App} />`, root);
