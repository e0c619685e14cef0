import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  decideFirstPlacement,
  decideInSnapshot,
  SnapshotDecider,
} from '../../src/explain/verdict/decide-in-snapshot.ts';
import { clusterVerdict } from '../../src/explain/verdict/cluster-verdict.ts';
import { CauseTrials, ResumableDecider } from '../../src/explain/verdict/resumable-decider.ts';
import { IncrementalScheduler } from '../../src/incremental-scheduler.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { PublishedClusters, decisionOwner } from '../../src/prior/published-clusters.ts';
import { applySnapshotDelta } from '../../src/incremental/snapshot-delta.ts';
import { delta, snapshot, withUniqueNames } from './arbitrary-snapshot.ts';

const RUNS = 150;
it('one engine that follows decides each placement as a new engine does', () => {
  fc.assert(
    fc.property(snapshot, fc.array(delta, { maxLength: 6 }), fc.nat(), (first, deltas, at) => {
      const trials = new CauseTrials();
      let present = withUniqueNames(first);
      for (const [step, change] of [undefined, ...deltas].entries()) {
        if (change !== undefined) present = withUniqueNames(applySnapshotDelta(present, change));
        // Decisions come and go, too.
        const decisions = present.decisions.filter((_, number) => (number + step + at) % 3 !== 0);
        const { clusters } = new PublishedClusters().read(decisions);
        const owner = [...clusters.keys()][at % Math.max(1, clusters.size)] ?? '';
        const withoutOwner = decisions.filter((page) => (decisionOwner(page) ?? '') !== owner);
        for (const placement of present.placements) {
          const alone = { ...present, decisions, placements: [placement] };
          expect(trials.selected(alone, clusters, new Map())).toEqual(
            decideFirstPlacement(alone)?.result.selected,
          );
          expect(trials.selected(alone, clusters, new Map([[owner, undefined]]))).toEqual(
            decideFirstPlacement({ ...alone, decisions: withoutOwner })?.result.selected,
          );
        }
      }
    }),
    { numRuns: RUNS },
  );
});

it('a decider that goes on decides as a new one, in any order', () => {
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

it('one engine that goes from snapshot to snapshot decides and explains as a new one', () => {
  fc.assert(
    fc.property(
      snapshot,
      fc.array(delta, { maxLength: 4 }),
      fc.array(fc.tuple(fc.nat(4), fc.nat(7)), { maxLength: 8 }),
      (first, deltas, order) => {
        const snapshots = [withUniqueNames(first)];
        for (const change of deltas)
          snapshots.push(withUniqueNames(applySnapshotDelta(snapshots.at(-1) as Snapshot, change)));
        const scheduler = new IncrementalScheduler();
        const resumable = new ResumableDecider({ scheduler, tracer: new CauseTrials() });
        const deciders = snapshots.map((present) => new SnapshotDecider(present, resumable));
        const inOrder = snapshots.flatMap(({ placements }, of) =>
          placements.map((_, at) => [of, at] as const),
        );
        for (const [of, at] of [...inOrder, ...order]) {
          const present = snapshots[of % snapshots.length] as Snapshot;
          const { name = 'none', namespace = '' } = present.placements[at]?.metadata ?? {};
          const ref = { name, namespace };
          const [found, expected] = [
            deciders[of % snapshots.length]?.decide(ref),
            decideInSnapshot(present, ref),
          ];
          expect(found?.decided.result).toEqual(expected?.decided.result);
          expect(found?.snapshot).toEqual(expected?.snapshot);
          if (found === undefined || expected === undefined) continue;
          for (const cluster of present.clusters)
            expect(clusterVerdict(found.decided, cluster.metadata.name, cluster)).toEqual(
              clusterVerdict(expected.decided, cluster.metadata.name, cluster),
            );
        }
        resumable.end();
        for (const present of snapshots)
          expect([...scheduler.decide(present)]).toEqual([...new IncrementalScheduler().decide(present)]);
      },
    ),
    { numRuns: RUNS },
  );
});
