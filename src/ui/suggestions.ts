import type { FleetView } from '../core/dashboard/fleet-view.ts';

/** What the search box proposes: a line of text, and where it leads. */
export interface Suggestion {
  readonly text: string;
  /** What it is: `cluster`, `placement`, `what if`. */
  readonly kind: string;
  readonly address: string;
}

const MOST = 8;

/** What somebody may mean who typed this, the likeliest first. Without a fleet only questions are understood. */
export function suggestions(typed: string, fleet: FleetView | undefined): readonly Suggestion[] {
  const text = typed.trim().replace(/\s+/g, ' ');
  if (text === '') return [];
  const asked = questions(text, fleet);
  return (asked.length > 0 ? asked : named(text, fleet)).slice(0, MOST);
}

export function clusterAddress(name: string): string {
  return `/c/${encodeURIComponent(name)}`;
}

export function placementAddress({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string {
  return `/p/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}

export function whatIfAddress(assumed: Readonly<Record<string, string>>): string {
  return `/change?${new URLSearchParams(assumed).toString().replaceAll('%3A', ':')}`;
}

function questions(text: string, fleet: FleetView | undefined): readonly Suggestion[] {
  const [, time] = /^(?:what happened )?(?:at )?(\d{1,2}:\d{2})$/i.exec(text) ?? [];
  if (time !== undefined)
    return [{ text: `what happened at ${time}`, kind: 'history', address: `/?at=${time.padStart(5, '0')}` }];
  const [, number] = /^(?:pr|pull request|#) ?#?((?:[a-z0-9-]+\/)?\d+)$/i.exec(text) ?? [];
  if (number !== undefined)
    return [{ text: `pull request ${number}`, kind: 'change', address: whatIfAddress({ pr: number }) }];
  const [, commit] = /^commit ([0-9a-f]{7,64})$/i.exec(text) ?? [];
  if (commit !== undefined)
    return [
      { text: `commit ${commit}`, kind: 'change', address: whatIfAddress({ commit: commit.toLowerCase() }) },
    ];
  const [, count, like] = /^add (\d+)(?: like (\S+))?$/i.exec(text) ?? [];
  if (count !== undefined) {
    const assumed = { add: count, ...(like !== undefined && { like }) };
    return [{ text: `what if ${text}`, kind: 'what if', address: whatIfAddress(assumed) }];
  }
  const [, verb = '', target = ''] = /^(drain|lose) (\S+)$/i.exec(text) ?? [];
  if (target === '') return [];
  const flag = verb.toLowerCase();
  const question = (value: string): Suggestion => ({
    ...{ text: `what if ${flag} ${value}`, kind: 'what if' },
    address: whatIfAddress({ [flag]: value }),
  });
  if (/[:=]/.test(target)) return [question(target)];
  const names = matching(fleet?.clusters.map(([name]) => name) ?? [], target);
  return names.length === 0 ? [question(target)] : names.map(question);
}

function named(text: string, fleet: FleetView | undefined): readonly Suggestion[] {
  const clusters = matching(fleet?.clusters.map(([name]) => name) ?? [], text);
  const places = new Map((fleet?.placements ?? []).map((one) => [`${one.namespace}/${one.name}`, one]));
  const placements = matching([...places.keys()], text);
  const found = [
    ...placements.map((key): Suggestion => {
      const ref = places.get(key) ?? { namespace: '', name: key };
      return { text: key, kind: 'placement', address: placementAddress(ref) };
    }),
    ...clusters.map((name): Suggestion => ({ text: name, kind: 'cluster', address: clusterAddress(name) })),
  ];
  // What is meant exactly comes first, whatever it is.
  return found.toSorted((a, b) => rank(a.text, text) - rank(b.text, text));
}

/** The names that contain the text, the best first. */
function matching(names: readonly string[], text: string): readonly string[] {
  const wanted = text.toLowerCase();
  const found = names.filter((name) => name.toLowerCase().includes(wanted));
  return found.toSorted((a, b) => rank(a, text) - rank(b, text)).slice(0, MOST);
}

/** 0: the name itself; 1: the name of a placement without its namespace; 2: begins so; 3: contains it. */
function rank(name: string, text: string): number {
  const [own, wanted] = [name.toLowerCase(), text.toLowerCase()];
  if (own === wanted) return 0;
  if (own.endsWith(`/${wanted}`)) return 1;
  return own.startsWith(wanted) ? 2 : 3;
}
