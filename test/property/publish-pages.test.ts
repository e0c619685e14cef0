import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  byPageNumber,
  type DecisionPage,
  type DesiredGroup,
  listedClusters,
  publishedClusters,
  sameGroup,
} from '../../src/core/publish/pages/decision-page.ts';
import {
  type LastPublication,
  planToRestore,
  publishedPages,
} from '../../src/core/publish/record/last-publication.ts';
import { type PageAction, planPages } from '../../src/core/publish/pages/plan-pages.ts';

/**
 * A hub that holds pages with versions, and a client that looks after every single write. Each write carries the version it was
 * planned on, as the publisher's do; a write may fail, arrive late (after the controller went on), or arrive twice. After a write
 * with an unknown end the publisher fences its page: it changes the page's version, so that the late write can do no harm.
 */
interface StoredPage extends DecisionPage {
  readonly version: number;
}

type Fate = 'ok' | 'lost' | 'late' | 'twice';

interface Step {
  /** Group index per cluster; -1: not selected. */
  readonly groups: readonly number[];
  readonly fates: readonly Fate[];
}

/** Names of the groups change from step to step: an index shift relabels. */
interface History {
  readonly size: number;
  readonly steps: readonly (Step & { readonly groupOffset: number })[];
}

const fate = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Fate>('ok') },
  { weight: 2, arbitrary: fc.constant<Fate>('lost') },
  { weight: 2, arbitrary: fc.constant<Fate>('late') },
  { weight: 2, arbitrary: fc.constant<Fate>('twice') },
);

function history(size: number): fc.Arbitrary<History> {
  const step = fc.record({
    groups: fc.array(fc.integer({ min: -1, max: 2 }), { minLength: size, maxLength: size }),
    fates: fc.array(fate, { minLength: 6, maxLength: 6 }),
    groupOffset: fc.integer({ min: 0, max: 1 }),
  });
  return fc.record({ size: fc.constant(size), steps: fc.array(step, { minLength: 1, maxLength: 12 }) });
}

const clusterName = (index: number) => `c${String(index).padStart(4, '0')}`;

function desiredOf(step: Pick<History['steps'][number], 'groups' | 'groupOffset'>): DesiredGroup[] {
  const used = [...new Set(step.groups.filter((group) => group >= 0))].sort();
  const groups = used.map((id, at) => ({
    name: id === 0 ? '' : `g${id}`,
    index: at + step.groupOffset,
    decisions: step.groups.flatMap((group, i) =>
      group === id ? [{ clusterName: clusterName(i), reason: '' }] : [],
    ),
  }));
  return groups.length > 0 ? groups : [{ name: '', index: 0, decisions: [] }];
}

class Hub {
  readonly pages = new Map<string, StoredPage>();
  version = 0;
  onWrite: () => void = () => undefined;

  /** A write that can be sent later or again; it does nothing when its page changed since it was planned. */
  prepare(action: PageAction): () => boolean {
    const base = this.pages.get(action.page)?.version;
    return () => {
      const page = this.pages.get(action.page);
      if (page?.version !== base) return false;
      if (action.kind === 'delete') this.pages.delete(action.page);
      else {
        const fresh = page ?? { name: action.page, group: undefined, decisions: [], owned: true };
        const change =
          action.kind === 'write' ? { decisions: action.decisions } : { group: action.group, owned: true };
        this.pages.set(action.page, { ...fresh, ...change, version: ++this.version });
      }
      this.onWrite();
      return true;
    };
  }

  list(): StoredPage[] {
    return [...this.pages.values()].sort(byPageNumber);
  }

  listed(group?: DesiredGroup): string[] {
    return this.list()
      .filter((page) => group === undefined || sameGroup(page.group, group))
      .flatMap((page) => page.decisions.map((decision) => decision.clusterName));
  }
}

type Wanted = ReadonlyMap<string, DesiredGroup>;

function wantedOf(desired: readonly DesiredGroup[]): Wanted {
  return new Map(desired.flatMap((group) => group.decisions.map((d) => [d.clusterName, group] as const)));
}

function run(history: History): void {
  const hub = new Hub();
  /** Decisions that some write still under way may serve: a cluster in all of them must never be absent. */
  let open: Wanted[] = [new Map()];
  let late: (() => boolean)[] = [];
  const suspects = new Set<string>();
  hub.onWrite = () => {
    const [first, ...rest] = open;
    if (first === undefined) return;
    const listed = new Set(hub.listed());
    for (const [cluster, group] of first) {
      if (!rest.every((wanted) => wanted.has(cluster))) continue;
      expect(listed, `${cluster} is selected before and after`).toContain(cluster);
      if (!rest.every((wanted) => sameGroup(wanted.get(cluster), group))) continue;
      expect(hub.listed(group), `${cluster} stays in group ${group.name}/${group.index}`).toContain(cluster);
    }
    for (const page of hub.list()) expect(page.decisions.length).toBeLessThanOrEqual(100);
  };

  const attempt = (desired: readonly DesiredGroup[], fates: readonly Fate[]): boolean => {
    for (const name of suspects) {
      if (fates.at(-1) === 'lost') return false;
      const page = hub.pages.get(name);
      if (page !== undefined) hub.pages.set(name, { ...page, version: ++hub.version });
      suspects.delete(name);
    }
    const { actions } = planPages('web', hub.list(), desired);
    for (const [at, action] of actions.entries()) {
      const send = hub.prepare(action);
      const happens = fates[at % Math.max(1, fates.length)] ?? 'ok';
      if (happens === 'lost' || happens === 'late') suspects.add(action.page);
      if (happens === 'lost') return false;
      if (happens === 'late') {
        late.push(send);
        return false;
      }
      if (!send()) return false;
      if (happens === 'twice') send();
    }
    return true;
  };

  for (const step of history.steps) {
    const desired = desiredOf(step);
    open.push(wantedOf(desired));
    const complete = attempt(desired, step.fates);
    if (complete && suspects.size === 0) open = [wantedOf(desired)];
    // Some late writes arrive now, between this decision and the next.
    if (step.fates[0] !== 'ok') for (const send of late.splice(0, 1)) send();
  }
  const last = desiredOf(history.steps.at(-1)!);
  for (const send of late) send();
  late = [];
  for (let i = 0; i < 4 && !attempt(last, []); i++);
  expect(planPages('web', hub.list(), last).actions).toEqual([]);
  expect(hub.listed().sort()).toEqual([...wantedOf(last).keys()].sort());
  for (const group of last) {
    const pages = hub.list().filter((page) => sameGroup(page.group, group));
    expect(pages.length).toBeGreaterThan(0);
    expect(hub.listed(group).sort()).toEqual(group.decisions.map((d) => d.clusterName).sort());
  }
}

/** What somebody does to a page: the number picks one of those that are there. */
interface Disturbance {
  readonly page: number;
  readonly what: 'delete' | 'empty' | 'cut' | 'relabel' | 'add';
}

interface TroubledStep {
  readonly groups: readonly number[];
  readonly groupOffset: number;
  /** So many writes of the publication succeed. */
  readonly writes: number;
  readonly disturbances: readonly Disturbance[];
  /** So many writes succeed of each attempt to put things back. */
  readonly repairs: readonly number[];
}

const troubledStep = (size: number): fc.Arbitrary<TroubledStep> => {
  const writes = fc.oneof(fc.constant(Infinity), fc.integer({ min: 0, max: 5 }));
  const what = fc.constantFrom<Disturbance['what']>('delete', 'empty', 'cut', 'relabel', 'add');
  return fc.record({
    groups: fc.array(fc.integer({ min: -1, max: 2 }), { minLength: size, maxLength: size }),
    groupOffset: fc.integer({ min: 0, max: 1 }),
    writes,
    disturbances: fc.array(fc.record({ page: fc.nat(5), what }), { maxLength: 3 }),
    repairs: fc.array(writes, { maxLength: 2 }),
  });
};

function disturb(hub: Hub, { page: number, what }: Disturbance): void {
  const page = hub.list()[number % Math.max(1, hub.pages.size)];
  if (page === undefined) return;
  if (what === 'delete') hub.pages.delete(page.name);
  const decisions = {
    empty: [],
    cut: page.decisions.slice(1),
    add: [...page.decisions.slice(0, 99), { clusterName: 'stranger', reason: '' }],
  };
  if (what === 'relabel') hub.pages.set(page.name, { ...page, group: undefined });
  else if (what !== 'delete') hub.pages.set(page.name, { ...page, decisions: decisions[what] });
}

const sorted = (names: Iterable<string>): readonly string[] => [...names].sort();

/** As the publisher does it: a decision is published, or the last one stays, whatever others do to its pages meanwhile. */
class TroubledPublisher {
  readonly hub = new Hub();
  #last: LastPublication | undefined;

  get published(): readonly string[] {
    return publishedClusters(publishedPages(this.hub.list(), this.#last));
  }

  /** @returns the pages when all was written, and what is published in any case */
  publish(desired: readonly DesiredGroup[], writes: number) {
    const before = publishedPages(this.hub.list(), this.#last);
    const { actions, pages } = planPages('web', this.hub.list(), desired, { before });
    const wanted = new Set(listedClusters(pages));
    const leaving = publishedClusters(before).filter((cluster) => !wanted.has(cluster));
    const isComplete = this.#carryOut(actions, writes);
    this.#last = isComplete ? { pages, leaving: undefined } : { pages: before, leaving };
    const kept = isComplete ? wanted : publishedClusters(before).filter((name) => !leaving.includes(name));
    return { pages: isComplete ? pages : undefined, kept: sorted(kept) };
  }

  stay(writes: number): void {
    const last = this.#last;
    const isKnown = last?.leaving === undefined || this.hub.list().every(({ group }) => group !== undefined);
    const { actions, pages } = this.planToStay();
    if (this.#carryOut(actions, writes) && isKnown) this.#last = { pages, leaving: undefined };
  }

  planToStay() {
    return planToRestore('web', this.hub.list(), this.#last, () => false);
  }

  #carryOut(actions: readonly PageAction[], writes: number): boolean {
    for (const action of actions.slice(0, writes)) expect(this.hub.prepare(action)()).toBe(true);
    return actions.length <= writes;
  }
}

function troubledRun(steps: readonly TroubledStep[]): void {
  const publisher = new TroubledPublisher();
  const { hub } = publisher;
  for (const step of steps) {
    const desired = desiredOf(step);
    const { pages, kept } = publisher.publish(desired, step.writes);
    const homes = hub.list();
    for (const disturbance of step.disturbances) disturb(hub, disturbance);
    const untouched = homes.filter((page) => hub.pages.get(page.name)?.decisions === page.decisions);
    for (const writes of [...step.repairs, Infinity]) {
      // What is judged meanwhile is what was published, not what others left.
      expect(publisher.published).toEqual(expect.arrayContaining([...kept]));
      if (pages !== undefined) expect(sorted(publisher.published)).toEqual(kept);
      publisher.stay(writes);
    }
    expect(new Set(hub.listed()).size).toBe(hub.listed().length);
    expect(hub.listed()).toEqual(expect.arrayContaining([...kept]));
    if (pages === undefined) continue;
    expect(publisher.planToStay().actions).toEqual([]);
    expect(sorted(hub.listed())).toEqual(kept);
    for (const group of desired)
      expect(sorted(hub.listed(group))).toEqual(sorted(group.decisions.map((d) => d.clusterName)));
    for (const { name, decisions } of untouched) expect(hub.pages.get(name)?.decisions).toEqual(decisions);
    // A page that was deleted is made again under its name.
    const names = pages.filter(({ decisions }) => decisions.length > 0).map(({ name }) => name);
    if (step.disturbances.length === 1) expect([...hub.pages.keys()]).toEqual(expect.arrayContaining(names));
  }
}

describe('sticky pages', () => {
  it.each([
    { name: 'few clusters, long histories', size: 6, numRuns: 1_500 },
    { name: 'several pages', size: 230, numRuns: 60 },
  ])(
    'no cluster that stays selected is ever absent, none is listed twice at rest: $name',
    ({ size, numRuns }) => {
      fc.assert(fc.property(history(size), run), { numRuns });
    },
  );

  it('a cluster that stays selected in its group stays on its page', () => {
    fc.assert(
      fc.property(history(8), ({ steps }) => {
        let pages: readonly DecisionPage[] = [];
        let before: Wanted = new Map();
        for (const step of steps) {
          const desired = desiredOf(step);
          const plan = planPages('web', pages, desired);
          const home = (list: readonly DecisionPage[], cluster: string) =>
            list.find((page) => page.decisions.some((d) => d.clusterName === cluster))?.name;
          const after = plan.pages.map((page) => ({ ...page, owned: true }));
          for (const [cluster, group] of wantedOf(desired))
            if (sameGroup(before.get(cluster), group))
              expect(home(after, cluster)).toBe(home(pages, cluster));
          pages = after;
          before = wantedOf(desired);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    { name: 'few clusters, long histories', size: 6, numRuns: 1_000, maxLength: 10 },
    { name: 'several pages', size: 230, numRuns: 40, maxLength: 4 },
  ])('what others take is put back, and nobody else moves: $name', ({ size, numRuns, maxLength }) => {
    fc.assert(fc.property(fc.array(troubledStep(size), { minLength: 1, maxLength }), troubledRun), {
      numRuns,
    });
  });
});
