import { useEffect, useState } from 'preact/hooks';

/** What the server said to a question. */
export interface Answer<T> {
  /** Stays while the same question is asked again. */
  readonly data: T | undefined;
  /** A sentence; undefined while there is none. */
  readonly problem: string | undefined;
  readonly isLoading: boolean;
}

/** So that the way back shows at once what was there. A user who leaves takes them along, with those that are under way. */
let known = new Map<string, unknown>();
const MAX_KNOWN = 50;

/** The number of the last change that the server announced. */
let revision = '';
const listeners = new Set<() => void>();
let onLoggedOut: () => void = () => undefined;

/**
 * Asks for JSON, and again when something changed.
 * @param path below `/ui/api`; undefined: nothing is asked
 * @param isLive false: what was asked stays as it is
 */
export function useAnswer<T>(path: string | undefined, isLive = true): Answer<T> {
  const [, redraw] = useState(0);
  const [problem, setProblem] = useState<{ readonly path: string; readonly text: string }>();
  useEffect(() => {
    if (path === undefined) return;
    let isOver = false;
    const ask = async (): Promise<void> => {
      try {
        const own = known;
        const data = await askServer(path);
        if (own.size >= MAX_KNOWN && !own.has(path)) own.delete([...own.keys()][0] ?? '');
        own.set(path, data);
        if (!isOver) setProblem(undefined);
      } catch (error) {
        if (!isOver) setProblem({ path, text: error instanceof Error ? error.message : String(error) });
      }
      if (!isOver) redraw((count) => count + 1);
    };
    void ask();
    const again = (): void => void ask();
    if (isLive) listeners.add(again);
    return () => {
      isOver = true;
      listeners.delete(again);
    };
  }, [path, isLive]);
  const data = path === undefined ? undefined : (known.get(path) as T | undefined);
  const text = problem?.path === path ? problem?.text : undefined;
  return { data, problem: text, isLoading: path !== undefined && data === undefined && text === undefined };
}

/** @throws Error with a sentence for the viewer */
async function askServer(path: string): Promise<unknown> {
  const response = await fetch(`/ui/api${path}`).catch(() => undefined);
  if (response === undefined) throw new Error('Berth does not answer.');
  if (response.status === 401) onLoggedOut();
  const body = (await response.json().catch(() => ({}))) as { readonly message?: string };
  if (!response.ok) throw new Error(body.message ?? `Berth answered ${response.status}.`);
  return body;
}

export interface Session {
  readonly username: string;
  readonly allClusters: boolean;
  readonly allNamespaces: boolean;
}

/** @returns undefined if nobody is logged in */
export async function readSession(): Promise<Session | undefined> {
  const response = await fetch('/ui/session').catch(() => undefined);
  return response?.ok === true ? ((await response.json()) as Session) : undefined;
}

/** @returns why not; undefined if it worked */
export async function logIn(token: string): Promise<string | undefined> {
  return post('/ui/session', { token });
}

export async function logOut(): Promise<void> {
  await fetch('/ui/session', { method: 'DELETE' }).catch(() => undefined);
  known = new Map();
}

/**
 * Approves what a placement holds.
 * @param path of the placement, below `/ui/api`
 * @returns why not; undefined if it worked
 */
export async function approve(path: string, code: string): Promise<string | undefined> {
  return post(`/ui/api${path}/release`, { code });
}

/** @returns why not; undefined if it worked */
async function post(path: string, body: object): Promise<string | undefined> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => undefined);
  if (response?.ok === true) return undefined;
  const { message } = ((await response?.json().catch(() => ({}))) ?? {}) as { readonly message?: string };
  return message ?? 'Berth does not answer.';
}

/** Two hundred pages that hear of a change ask within this time, not all at once. */
const SPREAD_MS = 1_500;
/** Records of a change are written after it, and large answers are kept for a while: pages ask once more. */
const LATER_MS = 12_000;
/** After a refusal: there are too many pages, or the server begins. */
const AGAIN_MS = 10_000;

/**
 * Hears of changes while the page is seen: browsers have few connections to one server.
 * @param loggedOut called when the server knows nobody any more
 * @returns a function that ends it
 */
export function followChanges(onState: (isLive: boolean) => void, loggedOut: () => void): () => void {
  onLoggedOut = () => {
    known = new Map();
    loggedOut();
  };
  let source: EventSource | undefined;
  let later: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    source = new EventSource('/ui/events');
    source.addEventListener('open', () => onState(true));
    source.addEventListener('error', () => {
      onState(false);
      // A browser tries again by itself only where the server did not refuse.
      if (source?.readyState === EventSource.CLOSED) setTimeout(follow, AGAIN_MS);
    });
    source.addEventListener('changed', ({ data }: MessageEvent<string>) => {
      const isFirst = revision === '';
      if (data === revision) return;
      revision = data;
      if (isFirst) return;
      const again = (): void => listeners.forEach((ask) => ask());
      setTimeout(again, Math.random() * SPREAD_MS);
      clearTimeout(later);
      later = setTimeout(again, LATER_MS + Math.random() * SPREAD_MS);
    });
  };
  const follow = (): void => {
    source?.close();
    if (document.visibilityState === 'visible') open();
  };
  document.addEventListener('visibilitychange', follow);
  follow();
  return () => {
    document.removeEventListener('visibilitychange', follow);
    source?.close();
  };
}
