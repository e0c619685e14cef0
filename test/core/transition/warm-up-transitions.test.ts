import { expect, it } from 'vitest';
import { PlacementEngine } from '@berth/placement/engine';
import { IncrementalScheduler } from '@berth/placement/incremental-scheduler';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { warmUpTransitions } from '../../../src/core/transition/warm-up-transitions.ts';

it('decides every placement of a made-up fleet again and again, and loses a cluster each time', () => {
  const scheduler = new IncrementalScheduler();
  const seen: { readonly snapshot: Snapshot; readonly results: ScheduleResult[] }[] = [];
  const steps = warmUpTransitions(function* (snapshot) {
    const results: ScheduleResult[] = [];
    seen.push({ snapshot, results });
    for (const result of scheduler.decide(snapshot)) {
      results.push(result);
      yield result;
    }
  });
  let count = 0;
  for (const _ of steps) count += 1;
  expect(count).toBe(seen.reduce((sum, { results }) => sum + results.length, 0));
  const tainted = seen.map(
    ({ snapshot }) => snapshot.clusters.filter(({ spec }) => spec?.taints !== undefined).length,
  );
  expect(new Set(tainted)).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8]));
  for (const { results } of seen)
    for (const { outcome, selected } of results)
      expect([outcome, selected.length]).toEqual(['scheduled', 40]);
  // It is a rehearsal of real decisions: those of a new engine over the last snapshot.
  const last = seen.at(-1);
  const engine = last && new PlacementEngine(last.snapshot);
  expect(last?.results.map(({ selected }) => selected)).toEqual(
    engine?.scheduleAll().map(({ selected }) => selected),
  );
});
