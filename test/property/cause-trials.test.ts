import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CauseTrials } from '../../src/core/explain/cause-trials.ts';
import {
  decideFirstPlacement,
  decideInSnapshot,
  SnapshotDecider,
} from '../../src/core/explain/verdict/decide-in-snapshot.ts';
import { applySnapshotDelta } from '../../src/core/placement/incremental/snapshot-delta.ts';
import type { Snapshot } from '../../src/core/snapshot/snapshot.ts';
import { delta, snapshot } from './arbitrary-snapshot.ts';

const RUNS = 150;
/** Names are unique on a hub. */
function withUniqueNames(given: Snapshot): Snapshot {
  const unique = <
    T extends { readonly metadata: { readonly name: string; readonly namespace?: string | undefined } },
  >(
    list: readonly T[],
  ): readonly T[] => [
    ...new Map(list.map((one) => [`${one.metadata.namespace ?? ''}/${one.metadata.name}`, one])).values(),
  ];
  return {
    ...given,
    placements: unique(given.placements),
    clusters: unique(given.clusters),
    scores: unique(given.scores),
  };
}

it('one engine that follows decides each placement as a new engine does', () => {
  fc.assert(
    fc.property(snapshot, fc.array(delta, { maxLength: 6 }), fc.nat(), (first, deltas, at) => {
      const trials = new CauseTrials();
      let present = withUniqueNames(first);
      for (const [step, change] of [undefined, ...deltas].entries()) {
        if (change !== undefined) present = withUniqueNames(applySnapshotDelta(present, change));
        // Decisions come and go, too.
        const decisions = present.decisions.filter((_, number) => (number + step + at) % 3 !== 0);
        for (const placement of present.placements) {
          const alone = { ...present, decisions, placements: [placement] };
          expect(trials.selected(alone)).toEqual(decideFirstPlacement(alone)?.result.selected);
        }
      }
    }),
    { numRuns: RUNS },
  );
});

it('a decider that goes on decides as one that begins anew, in any order', () => {
  fc.assert(
    fc.property(snapshot, fc.array(fc.nat(7), { maxLength: 8 }), (given, order) => {
      const present = withUniqueNames(given);
      const decider = new SnapshotDecider(present);
      const inOrder = present.placements.map((_, at) => at);
      for (const at of [...inOrder, ...order]) {
        const { name = 'none', namespace = '' } = present.placements[at]?.metadata ?? {};
        const ref = { name, namespace };
        const [found, expected] = [decider.decide(ref), decideInSnapshot(present, ref)];
        expect(found?.decided.result).toEqual(expected?.decided.result);
        expect(found?.snapshot).toEqual(expected?.snapshot);
      }
    }),
    { numRuns: RUNS },
  );
});
