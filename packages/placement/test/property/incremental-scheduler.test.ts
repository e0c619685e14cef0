import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileCel, memoizeCel } from '../../src/filter/cel-hook.ts';
import { PlacementEngine } from '../../src/engine.ts';
import { decisionObjects, renderCase } from '../../src/case/render-case.ts';
import type { ScheduleResult } from '../../src/result/schedule-result.ts';
import type { PlacementTrace } from '../../src/trace/trace.ts';
import { placementKey } from '../../src/index/scheduling-index.ts';
import type { SnapshotDelta } from '../../src/incremental/snapshot-delta.ts';
import { applySnapshotDelta, diffSnapshots } from '../../src/incremental/snapshot-delta.ts';
import { PublishedClusters } from '../../src/prior/published-clusters.ts';
import { IncrementalScheduler } from '../../src/incremental-scheduler.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { crowdDelta, crowdedSnapshot, delta, snapshot } from './arbitrary-snapshot.ts';

const RUNS = Number(process.env['BERTH_PROPERTY_RUNS'] ?? 10_000);
const cel = memoizeCel(compileCel);

interface Pass {
  readonly change: SnapshotDelta;
  /** Which of the results are published before the next pass; the others are held. */
  readonly published: readonly boolean[];
  /** Which placements keep the first two clusters of the fleet, whatever their result is. */
  readonly held: readonly boolean[];
  /** Numbers of the placements that are listed before the others. */
  readonly first: readonly number[];
  /** Numbers of two pages that somebody else writes. */
  readonly meddling: readonly [number, number] | undefined;
  /** How many results are asked for. */
  readonly asked: number;
}

const passOf = (change: fc.Arbitrary<SnapshotDelta>): fc.Arbitrary<Pass> =>
  fc.record({
    // Now and then nothing happens, and the engine gets ready.
    change: fc.oneof(
      { weight: 3, arbitrary: change },
      { weight: 1, arbitrary: fc.constant<SnapshotDelta>({}) },
    ),
    published: fc.array(fc.constantFrom(true, true, true, false), { minLength: 5, maxLength: 5 }),
    held: fc.array(fc.constantFrom(false, false, false, true), { minLength: 5, maxLength: 5 }),
    first: fc.oneof(fc.constant([]), fc.uniqueArray(fc.nat({ max: 4 }), { maxLength: 3 })),
    meddling: fc.option(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 })), { nil: undefined, freq: 3 }),
    asked: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 5 })),
  });

/** As a controller does it: the same page objects as long as nothing is written. */
function publish(
  given: Snapshot,
  results: readonly ScheduleResult[],
  published: Pass['published'],
): Snapshot {
  let { decisions } = given;
  results.forEach((result, at) => {
    if (published[at] !== true || result.outcome === 'skipped') return;
    const pages = decisionObjects(result);
    const key = placementKey(result.placement);
    const isOwn = ({ metadata }: (typeof decisions)[number]): boolean =>
      `${metadata.namespace}/${metadata.labels?.['cluster.open-cluster-management.io/placement']}` === key;
    const before = decisions.filter(isOwn);
    if (JSON.stringify(before) === JSON.stringify(pages)) return;
    decisions = sorted([...decisions.filter((one) => !isOwn(one)), ...pages]);
  });
  return { ...given, decisions };
}

/** As a hub lists them. */
function sorted(pages: Snapshot['decisions']): Snapshot['decisions'] {
  const keyOf = ({ metadata }: Snapshot['decisions'][number]): string =>
    `${metadata.namespace}/${metadata.name}`;
  return pages.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
}

/** A stranger takes a cluster from one page and puts it twice onto another. */
function meddled(given: Snapshot, meddling: Pass['meddling']): Snapshot {
  if (meddling === undefined || given.decisions.length === 0) return given;
  const decisions = [...given.decisions];
  const [from, to] = meddling.map((at) => at % decisions.length) as [number, number];
  const edit = (at: number, change: (names: readonly string[]) => readonly string[]): void => {
    const page = decisions[at] as Snapshot['decisions'][number];
    const names = (page.status?.decisions ?? []).map(({ clusterName }) => clusterName);
    const list = change(names).map((clusterName) => ({ clusterName, reason: '' }));
    decisions[at] = { ...page, status: { decisions: list } };
  };
  edit(from, (names) => names.slice(1));
  edit(to, (names) => [...names, ...names.slice(-1)]);
  return { ...given, decisions };
}

/** As a hub lists them, a new placement not as the last; those that are urgent before the others. */
function listed(given: Snapshot, first: Pass['first'] = []): Snapshot {
  const byKey = given.placements.toSorted((a, b) => (placementKey(a) < placementKey(b) ? -1 : 1));
  const urgent = first.flatMap((at) => byKey[at] ?? []);
  return { ...given, placements: [...urgent, ...byKey.filter((one) => !urgent.includes(one))] };
}

function withHeld(given: Snapshot, held: Pass['held']): Snapshot {
  const names = given.clusters.slice(0, 2).map(({ metadata }) => metadata.name);
  const entries = given.placements.flatMap((one, at) =>
    held[at] === true ? [[placementKey(one), names] as const] : [],
  );
  return entries.length === 0 ? given : { ...given, held: Object.fromEntries(entries) };
}

/** The first results, and no more of them computed. */
function ask(results: Iterable<ScheduleResult>, count: number): readonly ScheduleResult[] {
  const taken: ScheduleResult[] = [];
  for (const result of results) if (taken.push(result) >= count) break;
  return taken;
}

function follow(given: Snapshot, passes: readonly Pass[]): void {
  const follower = new IncrementalScheduler({ compileCel: cel });
  let current = listed({ ...given, decisions: sorted(given.decisions) });
  for (const { change, published, held, first, meddling, asked } of passes) {
    const seen = withHeld(current, held);
    const results = ask(follower.decide(seen), asked);
    const wanted = new PlacementEngine(seen, { compileCel: cel }).scheduleAll();
    expect(results).toStrictEqual(wanted.slice(0, asked));
    const next = meddled(publish(current, results, published), meddling);
    current = listed(applySnapshotDelta(next, change), first);
  }
  const last = [...follower.decide(current)];
  const settled = publish(current, last, [true, true, true, true, true]);
  expect([...follower.decide(settled)]).toStrictEqual(
    new PlacementEngine(settled, { compileCel: cel }).scheduleAll(),
  );
}

describe('following the snapshots that a controller reads', () => {
  it(`decides each as a new engine would (${RUNS / 4} runs)`, () => {
    const passes = fc.array(passOf(delta), { minLength: 2, maxLength: 4 });
    fc.assert(fc.property(snapshot, passes, follow), { numRuns: Math.ceil(RUNS / 4) });
  });

  it(`where many clusters tie and stay (${RUNS / 50} runs)`, () => {
    const passes = fc.array(passOf(crowdDelta), { minLength: 10, maxLength: 10 });
    fc.assert(fc.property(crowdedSnapshot, passes, follow), { numRuns: Math.ceil(RUNS / 50) });
  });

  it(`where others decided so much that one more or less seldom counts (${RUNS / 50} runs)`, () => {
    const passes = fc.array(passOf(crowdDelta), { minLength: 6, maxLength: 6 });
    const counts = fc.array(fc.integer({ min: 100, max: 300 }), { minLength: 1, maxLength: 48 });
    const decided = fc.tuple(crowdedSnapshot, counts).map(([given, each]): Snapshot => {
      const clusters = given.clusters.flatMap(({ metadata: { name } }, at) =>
        Array.from({ length: each[at % each.length] ?? 0 }, () => ({ clusterName: name, reason: '' })),
      );
      const others = {
        apiVersion: 'cluster.open-cluster-management.io/v1beta1',
        kind: 'PlacementDecision' as const,
        metadata: { name: 'others', namespace: 'x' },
        status: { decisions: clusters },
      };
      return { ...given, decisions: [...given.decisions, others] };
    });
    fc.assert(fc.property(decided, passes, follow), { numRuns: Math.ceil(RUNS / 50) });
  });

  it('hands out the same results while nothing changes', () => {
    fc.assert(
      fc.property(crowdedSnapshot, (given) => {
        const follower = new IncrementalScheduler({ compileCel: cel });
        let current = given;
        // Each pass feeds the next; after a few nothing moves any more, or two placements take turns forever.
        for (let pass = 0; pass < 4; pass++)
          current = publish(current, [...follower.decide(current)], [true, true, true]);
        const before = [...follower.decide(current)];
        const next = publish(current, before, [true, true, true]);
        if (next.decisions === current.decisions)
          expect([...follower.decide(next)].every((one, at) => one === before[at])).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it('explains what did not have to be decided again by the decisions of now', () => {
    let explained = 0;
    const all = [true, true, true, true, true];
    fc.assert(
      fc.property(crowdedSnapshot, fc.array(crowdDelta, { minLength: 6, maxLength: 6 }), (given, changes) => {
        const engine = new PlacementEngine(given, { compileCel: cel });
        const published = new PublishedClusters();
        let current = publish(given, engine.scheduleAll(), all);
        let before = given;
        for (const change of [...changes, {}, {}, {}]) {
          const pages = published.read(current.decisions);
          const results = [...engine.scheduleAgain(diffSnapshots(before, current), current, pages)];
          before = current;
          const next = publish(current, results, all);
          if (next.decisions === current.decisions) {
            const fresh = new PlacementEngine(current, { compileCel: cel });
            fresh.scheduleAll();
            for (const key of current.placements.map(placementKey)) {
              const traces = [engine, fresh].map((one) => one.trace(key) as PlacementTrace);
              expect(renderCase(traces[0] as PlacementTrace)).toStrictEqual(
                renderCase(traces[1] as PlacementTrace),
              );
              explained++;
            }
          }
          current = applySnapshotDelta(next, change);
        }
      }),
      { numRuns: Math.ceil(RUNS / 50) },
    );
    expect(explained).toBeGreaterThan(0);
  });
});
