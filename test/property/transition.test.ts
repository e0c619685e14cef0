import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileCel, memoizeCel } from '../../packages/placement/src/filter/cel-hook.ts';
import { placementKey } from '../../packages/placement/src/index/scheduling-index.ts';
import { applySnapshotDelta } from '../../packages/placement/src/incremental/snapshot-delta.ts';
import { IncrementalScheduler } from '@berth/placement/incremental-scheduler';
import { scheduleAll, scheduleEach } from '@berth/placement/engine';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { sameClusters } from '@berth/placement/result/cluster-change';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import {
  type Transition,
  type TransitionOptions,
  completeTransition,
  Transitions,
  withPublishedClusters,
} from '../../src/core/transition/transition.ts';
import {
  crowdDelta,
  crowdedSnapshot,
  delta,
  snapshot,
} from '../../packages/placement/test/property/arbitrary-snapshot.ts';

const RUNS = Number(process.env['BERTH_PROPERTY_RUNS'] ?? 1_000);
const seeded = (runs = RUNS): fc.Parameters<unknown> => ({ numRuns: runs });

const cel = memoizeCel(compileCel);
const decide = (given: Snapshot): readonly ScheduleResult[] => scheduleAll(given, { compileCel: cel });
const asDecided: TransitionOptions = { decide: scheduleEach, outcomeOf: (_key, { selected }) => selected };

/** Each key once, as on a hub. */
const onHub = (given: Snapshot): Snapshot => ({
  ...given,
  placements: [...new Map(given.placements.map((one) => [placementKey(one), one])).values()],
});
const anySnapshot = fc.oneof(snapshot, crowdedSnapshot).map(onHub);

/** Holds some placements: what is published for them stays. */
function holding(start: Snapshot, held: ReadonlySet<string>): TransitionOptions {
  const published = publishedIn(start);
  return {
    decide: scheduleEach,
    outcomeOf: (key, { selected }) => (held.has(key) ? (published.get(key) ?? []) : selected),
  };
}

/** Holds what takes more than one cluster of those away that are published at the start. */
function withinBudget(start: Snapshot): TransitionOptions {
  const published = publishedIn(start);
  return {
    decide: scheduleEach,
    outcomeOf: (key, { selected }) => {
      const before = published.get(key) ?? [];
      return before.filter((cluster) => !selected.includes(cluster)).length > 1 ? before : selected;
    },
  };
}

function publishedIn(start: Snapshot): ReadonlyMap<string, readonly string[]> {
  const published = new Map<string, readonly string[]>();
  for (const { metadata, status } of start.decisions) {
    const key = `${metadata.namespace}/${metadata.labels?.['cluster.open-cluster-management.io/placement']}`;
    const clusters = (status?.decisions ?? []).map(({ clusterName }) => clusterName);
    published.set(key, [...new Set([...(published.get(key) ?? []), ...clusters])]);
  }
  return published;
}

const snapshotChanges = fc.array(fc.oneof(delta, crowdDelta), { maxLength: 4 });
const heldNumbers = fc.array(fc.nat({ max: 4 }), { maxLength: 2 });
const heldAmong = ({ placements }: Snapshot, numbers: readonly number[]): ReadonlySet<string> =>
  new Set(
    numbers
      .map((at) => placements[at])
      .filter(isThere)
      .map(placementKey),
  );

const textOf = ({ results, unstable: unstable, rounds }: Transition): string =>
  JSON.stringify([[...results], unstable, rounds]);

describe('a transition', () => {
  it('is the same in whatever order the snapshot is listed', () => {
    const shuffled = anySnapshot.chain((given) =>
      fc.tuple(
        fc.constant(given),
        fc.shuffledSubarray([...given.placements], { minLength: given.placements.length }),
        fc.shuffledSubarray([...given.clusters], { minLength: given.clusters.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([given, placements, clusters]) => {
        const other = completeTransition(asDecided, { ...given, placements, clusters });
        expect(textOf(other)).toBe(textOf(completeTransition(asDecided, given)));
      }),
      seeded(),
    );
  });

  it('ends where deciding again moves nothing', () => {
    let calm = 0;
    fc.assert(
      fc.property(anySnapshot, heldNumbers, (given, numbers) => {
        const held = heldAmong(given, numbers);
        const options = holding(given, held);
        const { snapshot: end, unstable: unstable, results } = completeTransition(options, given);
        if (unstable.length > 0) return;
        calm += 1;
        const again = completeTransition(options, end);
        expect(again.rounds).toBe(1);
        for (const [key, { outcome, selected }] of again.results)
          if (outcome !== 'skipped' && !held.has(key))
            expect(sameClusters(selected, results.get(key)?.selected ?? []), key).toBe(true);
      }),
      seeded(),
    );
    // Decisions that never come to rest are rare, or something is wrong with the order.
    expect(calm).toBeGreaterThan(RUNS * 0.95);
  });

  it('asks for what the next one asks for, also where it moved a placement and then held it', () => {
    fc.assert(
      fc.property(anySnapshot, snapshotChanges, (given, changes) => {
        let now = given;
        for (const change of [{}, ...changes]) {
          now = onHub(applySnapshotDelta(now, change));
          const { snapshot: end, unstable: unstable, results } = completeTransition(withinBudget(now), now);
          if (unstable.length > 0) return;
          const again = completeTransition(withinBudget(end), end);
          expect(again.rounds).toBe(1);
          for (const [key, { outcome, selected }] of again.results)
            if (outcome !== 'skipped')
              expect(sameClusters(selected, results.get(key)?.selected ?? []), key).toBe(true);
          now = end;
        }
      }),
      seeded(),
    );
  });

  it('depends on nothing of a held placement but what stays on its pages', () => {
    fc.assert(
      fc.property(anySnapshot, heldNumbers, (given, numbers) => {
        const held = heldAmong(given, numbers);
        const {
          snapshot: end,
          unstable: unstable,
          results,
        } = completeTransition(holding(given, held), given);
        if (unstable.length > 0) return;
        for (const [key, { placement, outcome, selected }] of results) {
          if (outcome === 'skipped' || held.has(key)) continue;
          // By itself: nothing is there of the others but their pages.
          const [alone] = decide({ ...end, placements: [placement] });
          expect(sameClusters(alone?.selected ?? [], selected), key).toBe(true);
        }
      }),
      seeded(),
    );
  });

  it('gives results that follow from the snapshots that it names', () => {
    fc.assert(
      fc.property(anySnapshot, heldNumbers, (given, numbers) => {
        const options = holding(given, heldAmong(given, numbers));
        const { results, decidedIn, snapshot: end } = completeTransition(options, given);
        for (const [key, result] of results) {
          const replayed = decide(decidedIn.get(key) ?? end).find(
            (one) => placementKey(one.placement) === key,
          );
          expect(JSON.stringify(replayed)).toBe(JSON.stringify(result));
        }
      }),
      seeded(RUNS / 5),
    );
  });

  it('is the same when an engine follows one change after the other', () => {
    fc.assert(
      fc.property(anySnapshot, heldNumbers, snapshotChanges, (given, numbers, changes) => {
        const follower = new IncrementalScheduler({ compileCel: cel });
        let now = given;
        let options = asDecided;
        const following = new Transitions({
          decide: (one) => follower.decide(one),
          outcomeOf: (key, result) => options.outcomeOf(key, result),
        });
        for (const change of [{}, ...changes]) {
          now = onHub(applySnapshotDelta(now, change));
          options = holding(now, heldAmong(now, numbers));
          const steps = following.run(now);
          let step = steps.next();
          while (step.done !== true) step = steps.next();
          expect(textOf(step.value)).toBe(textOf(completeTransition(options, now)));
          const outcomes = [...step.value.results].flatMap(([key, { outcome, selected }]) =>
            outcome === 'skipped' ? [] : [[key, step.value.snapshot.held?.[key] ?? selected] as const],
          );
          now = withPublishedClusters(now, new Map(outcomes));
        }
      }),
      seeded(RUNS / 2),
    );
  });
});

const isThere = <T>(value: T | undefined): value is T => value !== undefined;
