import type { ApplicationPlace, ApplicationView } from '../../src/core/dashboard/application-view.ts';
import { DECISION_STYLE, decisionTableHtml } from '../../src/core/preview/report/decision-table-html.ts';
import { COLOURS, colourVariables } from '../../src/core/preview/report/html.ts';

/**
 * The extension of Argo CD's pages: a status panel of an Application, and a tab of Applications and ApplicationSets. It runs with the
 * React of the page, 18 or 19, and asks Berth through Argo CD, which checks the rights of its user.
 * Source of the interfaces: argo-cd 3.6 `ui/src/app/shared/services/extensions-service.ts`.
 */

type Element = object;
type Child = Element | string | undefined;

interface HostReact {
  createElement(kind: unknown, props: object | null, ...children: readonly Child[]): Element;
  useState<T>(initial: T): readonly [T, (next: T) => void];
  useEffect(effect: () => () => void, inputs: readonly unknown[]): void;
}

interface HostObject {
  readonly kind?: string;
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly ownerReferences?: readonly { readonly kind: string }[];
  };
  readonly spec?: {
    readonly project?: string;
    readonly template?: { readonly spec?: { readonly project?: string } };
  };
  readonly status?: {
    readonly resources?: readonly {
      readonly kind: string;
      readonly namespace?: string;
      readonly name: string;
    }[];
  };
}

interface HostProps {
  readonly application: HostObject;
  /** Absent in a flyout. */
  readonly resource?: HostObject;
  /** Of a status panel. */
  readonly openFlyout?: () => void;
}

declare const window: {
  readonly React: HostReact;
  readonly extensionsAPI: Readonly<
    Record<
      'registerResourceExtension' | 'registerStatusPanelExtension',
      (...given: readonly unknown[]) => void
    >
  >;
};

interface Asked {
  readonly application: string;
  readonly project: string;
}

interface Answer {
  readonly view?: ApplicationView;
  readonly problem?: string;
}

const AGAIN_MS = 30_000;
const PROBLEMS: Readonly<Record<number, string>> = {
  401: 'Argo CD does not let you ask Berth: your role needs “extensions, invoke, berth”.',
  404: 'Argo CD or Berth does not know this extension, or not this Application.',
};

const element: HostReact['createElement'] = (...given) => window.React.createElement(...given);

/** The Application to ask about: the object itself, or the first one of an ApplicationSet. */
function askedOf(object: HostObject): Asked | string {
  const { kind, metadata, spec, status } = object;
  if (kind !== 'ApplicationSet')
    return { application: `${metadata.namespace ?? ''}:${metadata.name}`, project: spec?.project ?? '' };
  const first = status?.resources?.find((one) => one.kind === 'Application');
  const project = spec?.template?.spec?.project ?? '';
  if (first === undefined) return 'This ApplicationSet has made no Application yet.';
  if (project.includes('{{')) return 'Its Applications are in several projects: open one of them.';
  return { application: `${first.namespace ?? metadata.namespace ?? ''}:${first.name}`, project };
}

/** Asks now, and again while the page is open. */
function useAnswer(asked: Asked | string): Answer {
  const [answer, setAnswer] = window.React.useState<Answer>({});
  const key = JSON.stringify(asked);
  window.React.useEffect(() => {
    if (typeof asked === 'string') {
      setAnswer({ problem: asked });
      return () => undefined;
    }
    let isOver = false;
    const ask = async (): Promise<void> => {
      const found = await askBerth(asked).catch(() => ({ problem: 'Argo CD does not answer.' }));
      if (!isOver) setAnswer(found);
    };
    void ask();
    const timer = setInterval(() => void ask(), AGAIN_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [key]);
  return answer;
}

async function askBerth({ application, project }: Asked): Promise<Answer> {
  const response = await fetch(new URL('extensions/berth/argocd/application', document.baseURI), {
    headers: { 'Argocd-Application-Name': application, 'Argocd-Project-Name': project },
  });
  if (response.ok) return { view: (await response.json()) as ApplicationView };
  const { message } = (await response.json().catch(() => ({}))) as { readonly message?: string };
  return { problem: message ?? PROBLEMS[response.status] ?? `Berth answered ${response.status}.` };
}

/** The sentences of a place, one line each. */
function linesOf(place: ApplicationPlace): readonly Child[] {
  const { selected, because, leavesIf, held, since, removedBy } = place;
  const line = (kind: string, ...children: readonly Child[]): Element =>
    element('p', { className: kind }, ...children);
  const leaves =
    leavesIf.length === 0 ? [] : [line('', element('b', null, 'Leaves if '), leavesIf.join(', or '), '.')];
  const joined = `Here since ${new Date(since?.at ?? '').toLocaleString('sv')}${since?.commit === undefined ? '' : `, by commit ${since.commit.slice(0, 8)}`}.`;
  return [
    line(
      selected ? '' : 'warning',
      element('b', null, selected ? 'Placed here because ' : 'Not selected any more: '),
      because,
      '.',
    ),
    ...leaves,
    ...removedBy.map(({ number, url, isHeld }) =>
      line('danger', linked(`PR ${number}`, url), ` would remove it${isHeld ? ', after an approval' : ''}.`),
    ),
    ...(held === undefined
      ? []
      : [line('danger', `A change of ${place.namespace}/${place.name} is held: ${held}.`)]),
    ...(since === undefined ? [] : [line('muted', joined)]),
  ];
}

/** Addresses come from forges and settings: only those of the web are links. */
function linked(text: string, address: string | undefined): Child {
  if (!/^https?:\/\//i.test(address ?? '')) return text;
  return element('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, text);
}

function StatusPanel({ application, openFlyout }: HostProps): Element | null {
  const isGenerated =
    application.metadata.ownerReferences?.some(({ kind }) => kind === 'ApplicationSet') === true;
  return isGenerated ? element(GeneratedPanel, { application, openFlyout }) : null;
}

function GeneratedPanel({ application, openFlyout }: HostProps): Element | null {
  const { view, problem } = useAnswer(askedOf(application));
  const places = view?.places ?? [];
  if (view !== undefined && places.length === 0) return null;
  const open = element('button', { type: 'button', onClick: openFlyout }, 'Show the decision');
  return element(
    'div',
    { className: 'application-status-panel__item berth berth-panel' },
    element('label', null, 'PLACEMENT'),
    ...places.flatMap(linesOf),
    problem === undefined ? undefined : element('p', { className: 'warning' }, problem),
    view === undefined ? undefined : open,
  );
}

function Tab({ application, resource = application }: HostProps): Element {
  const { view, problem } = useAnswer(askedOf(resource));
  const text = problem ?? (view === undefined ? 'Asking Berth …' : view.note);
  return element(
    'div',
    { className: 'berth' },
    text === '' ? undefined : element('p', { className: problem === undefined ? '' : 'warning' }, text),
    ...(view?.places ?? []).map((place) =>
      element(Place, { place, view, key: `${place.namespace}/${place.name}` }),
    ),
  );
}

function Place({
  place,
  view,
}: {
  readonly place: ApplicationPlace;
  readonly view: ApplicationView;
}): Element {
  const { namespace, name, table } = place;
  const cluster = view.cluster ?? '';
  const page = `${view.dashboard}/p/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}?cluster=${encodeURIComponent(cluster)}`;
  return element(
    'section',
    null,
    element('h2', null, `${view.application} on ${cluster}`),
    ...linesOf(place),
    // The names in it are escaped where it is made.
    element('div', { dangerouslySetInnerHTML: { __html: decisionTableHtml(table) } }),
    view.dashboard === undefined ? undefined : element('p', null, linked('Open in Berth', page)),
  );
}

/** Argo CD chooses light or dark itself, by a class. */
const STYLE = `.berth{${colourVariables(COLOURS.light)};color:var(--text);${DECISION_STYLE}
p{margin:.3em 0;overflow-wrap:anywhere}h2{font-size:1.2em;margin:1em 0 .3em}h3{font-size:1em;margin:1em 0 .3em}a{color:var(--link)}.wide{overflow-x:auto}table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.25em .6em;border-bottom:1px solid var(--line)}
tbody th{font-weight:400}summary{cursor:pointer}.danger{color:var(--danger);font-weight:600}.warning{color:var(--warning)}.muted{color:var(--muted)}button{font:inherit;color:var(--link);background:none;border:0;cursor:pointer;text-decoration:underline;text-align:left;padding:0}}
.theme-dark .berth{${colourVariables(COLOURS.dark)}}.berth-panel{width:24em;white-space:normal}.berth-panel p{margin:.15em 0}`;

const style = document.createElement('style');
style.textContent = STYLE;
document.head.append(style);
window.extensionsAPI.registerStatusPanelExtension(StatusPanel, 'Placement', 'berth', Tab);
for (const kind of ['Application', 'ApplicationSet'])
  window.extensionsAPI.registerResourceExtension(Tab, 'argoproj.io', kind, 'Placement', {
    icon: 'fa-map-marker-alt',
  });
