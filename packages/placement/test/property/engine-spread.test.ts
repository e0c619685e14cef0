import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SpreadConstraint } from '@berth/ocm/kind/placement';
import { scheduleAll } from '../../src/engine.ts';
import type { ScheduleResult } from '../../src/result/schedule-result.ts';
import type { ClusterSketch } from '../snapshots.ts';
import { BY_SCORE, snapshotOf } from '../snapshots.ts';

const RUNS = 1000;
const region = fc.constantFrom('eu', 'us', 'ap');
const clusters = fc
  .array(fc.record({ region: fc.option(region), score: fc.integer({ min: 0, max: 9 }) }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((all) => all.map((one, at) => sketch(`c${String(at).padStart(2, '0')}`, one)));
const numberOfClusters = fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined });
const maxSkew = fc.integer({ min: 1, max: 3 });

function sketch(name: string, one: { region: string | null; score: number }): ClusterSketch {
  return { name, labels: one.region === null ? {} : { region: one.region }, score: one.score };
}

function decide(
  given: readonly ClusterSketch[],
  ask: number | undefined,
  constraint: SpreadConstraint,
): ScheduleResult {
  const spec = {
    numberOfClusters: ask,
    prioritizerPolicy: BY_SCORE,
    spreadPolicy: { spreadConstraints: [constraint] },
  };
  return scheduleAll(snapshotOf({ clusters: given, spec }))[0] as ScheduleResult;
}

function counts(given: readonly ClusterSketch[], selected: readonly string[]): number[] {
  const byRegion = new Map<string, number>();
  for (const { name, labels } of given) {
    const value = labels?.['region'];
    if (value !== undefined)
      byRegion.set(value, (byRegion.get(value) ?? 0) + (selected.includes(name) ? 1 : 0));
  }
  return [...byRegion.values()];
}

const constraintOf = (
  skew: number,
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway',
): SpreadConstraint => ({
  topologyKey: 'region',
  topologyKeyType: 'Label',
  maxSkew: skew,
  whenUnsatisfiable,
});

describe('spread', () => {
  it('under DoNotSchedule the skew is never above maxSkew, and is the skew that the result tells', () => {
    fc.assert(
      fc.property(clusters, numberOfClusters, maxSkew, (given, ask, skew) => {
        const { selected, spread } = decide(given, ask, constraintOf(skew, 'DoNotSchedule'));
        const taken = counts(given, selected);
        const reached = taken.length === 0 ? 0 : Math.max(...taken) - Math.min(...taken);
        expect(reached).toBeLessThanOrEqual(skew);
        expect(spread?.[0]?.skew).toBe(reached);
      }),
      { numRuns: RUNS },
    );
  });

  it('under ScheduleAnyway as many are placed as without the constraint', () => {
    fc.assert(
      fc.property(clusters, numberOfClusters, maxSkew, (given, ask, skew) => {
        const { selected } = decide(given, ask, constraintOf(skew, 'ScheduleAnyway'));
        expect(selected).toHaveLength(Math.min(ask ?? given.length, given.length));
      }),
      { numRuns: RUNS },
    );
  });

  it('another cluster in a region that is there already never lowers how many are placed', () => {
    const added = fc.record({ region, score: fc.integer({ min: 0, max: 9 }) });
    fc.assert(
      fc.property(clusters, numberOfClusters, maxSkew, added, (given, ask, skew, one) => {
        // A new region may: nothing is taken in it yet, and the others may only be maxSkew ahead of it.
        fc.pre(given.some(({ labels }) => labels?.['region'] === one.region));
        const constraint = constraintOf(skew, 'DoNotSchedule');
        const before = decide(given, ask, constraint).selected.length;
        const after = decide([...given, sketch('new', one)], ask, constraint).selected.length;
        expect(after).toBeGreaterThanOrEqual(before);
      }),
      { numRuns: RUNS },
    );
  });
});
