import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applySnapshotDelta } from '../../packages/placement/src/incremental/snapshot-delta.ts';
import { scheduleAll, scheduleEach } from '@berth/placement/engine';
import { SideDecider } from '../../src/core/preview/sides/side-decider.ts';
import { completeTransition } from '../../src/core/transition/transition.ts';
import {
  delta,
  snapshot,
  withUniqueNames,
} from '../../packages/placement/test/property/arbitrary-snapshot.ts';

/** Holds what loses a cluster, so that some results are not what is published. */
const judge = (key: string, { selected }: { readonly selected: readonly string[] }): readonly string[] =>
  key.length % 2 === 0 ? selected : selected.slice(0, 1);

it('decides the sides of one plan after the other as a new engine does', () => {
  fc.assert(
    fc.property(snapshot, fc.array(delta, { maxLength: 6 }), fc.boolean(), (first, deltas, twice) => {
      const decider = new SideDecider();
      let present = withUniqueNames(first);
      for (const change of [undefined, ...deltas]) {
        const base = present;
        if (change !== undefined) present = withUniqueNames(applySnapshotDelta(present, change));
        expect(decider.results(base)).toEqual(scheduleAll(base));
        for (let times = 0; times < (twice ? 2 : 1); times++) {
          const made = decider.transition(present, { outcomeOf: judge });
          const expected = completeTransition({ decide: scheduleEach, outcomeOf: judge }, present);
          expect([...made.results]).toEqual([...expected.results]);
          expect(made.snapshot.decisions.map(({ status }) => status)).toEqual(
            expected.snapshot.decisions.map(({ status }) => status),
          );
          expect([...decider.published('after', made.snapshot)]).toEqual([
            ...new SideDecider().published('after', expected.snapshot),
          ]);
        }
        present = { ...present, decisions: decider.publishedBefore(present) };
      }
    }),
    { numRuns: 150 },
  );
});

it('decides a cluster that is listed twice as a new engine does', () => {
  fc.assert(
    fc.property(snapshot, snapshot, (first, second) => {
      const decider = new SideDecider();
      for (const given of [first, second, first]) {
        const unique = withUniqueNames(given);
        const twice = unique.clusters.slice(0, 2).map((cluster) => ({
          ...cluster,
          metadata: { ...cluster.metadata, namespace: 'other' },
        }));
        const doubled = { ...unique, clusters: [...unique.clusters, ...twice] };
        expect(decider.results(doubled)).toEqual(scheduleAll(doubled));
        expect(decider.results(unique)).toEqual(scheduleAll(unique));
      }
    }),
    { numRuns: 50 },
  );
});
