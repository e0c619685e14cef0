import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { compileCel, memoizeCel } from '../../src/filter/cel-hook.ts';
import { decisionOwner } from '../../src/prior/published-clusters.ts';
import { PlacementEngine } from '../../src/engine.ts';
import type * as UpdateDecisionModule from '../../src/incremental/update-decision.ts';
import { renderCase } from '../../src/case/render-case.ts';
import { placementKey } from '../../src/index/scheduling-index.ts';
import type { PlacementTrace } from '../../src/trace/trace.ts';
import type { SnapshotDelta } from '../../src/incremental/snapshot-delta.ts';
import { applySnapshotDelta } from '../../src/incremental/snapshot-delta.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { replaceDecisions, schedulePlainly } from '../reference/reference-schedule.ts';
import { crowdDelta, crowdedSnapshot, delta, published, snapshot } from './arbitrary-snapshot.ts';

const RUNS = Number(process.env['BERTH_PROPERTY_RUNS'] ?? 10_000);
const cel = memoizeCel(compileCel);

/** How often a decision was brought up to date, and how often it had to be made again. */
const taken = vi.hoisted(() => ({ short: 0, long: 0 }));
vi.mock('../../src/incremental/update-decision.ts', async (importOriginal) => {
  const real = await importOriginal<typeof UpdateDecisionModule>();
  const updateDecision: typeof real.updateDecision = (...args) => {
    const state = real.updateDecision(...args);
    taken[state === undefined ? 'long' : 'short']++;
    return state;
  };
  return { ...real, updateDecision };
});

/** Plain bookkeeping: the snapshot, the decisions as they are, and as they were when each placement was scheduled. */
class Ledger {
  snapshot: Snapshot;
  decisions: readonly PlacementDecision[];
  readonly basis = new Map<string, readonly PlacementDecision[]>();

  constructor(given: Snapshot) {
    this.snapshot = given;
    this.decisions = given.decisions;
  }

  change(change: SnapshotDelta): void {
    this.snapshot = applySnapshotDelta(this.snapshot, change);
    const removed = new Set(change.removedPlacements);
    this.decisions = this.decisions.filter((one) => !removed.has(decisionOwner(one) ?? ''));
    for (const key of removed) this.basis.delete(key);
  }

  publish(key: string, clusters: readonly string[]): void {
    const placement = this.snapshot.placements.find((one) => placementKey(one) === key);
    if (placement !== undefined)
      this.decisions = replaceDecisions(this.decisions, placement, [
        { name: 'x', labels: {}, decisions: clusters },
      ]);
  }

  schedule(key: string): void {
    const placement = this.snapshot.placements.find((one) => placementKey(one) === key);
    if (placement === undefined) throw new Error(`scheduled ${key}, which does not exist`);
    this.basis.set(key, this.decisions);
    const result = this.expected(key);
    if (result.scheduled)
      this.decisions = replaceDecisions(this.decisions, placement, result.placementDecisions);
  }

  expected(key: string) {
    const placement = this.snapshot.placements.find((one) => placementKey(one) === key);
    const decisions = this.basis.get(key);
    if (placement === undefined || decisions === undefined) throw new Error(`${key} was never scheduled`);
    return schedulePlainly({ ...this.snapshot, decisions }, placement, cel);
  }
}

function expectSame(engine: PlacementEngine, ledger: Ledger): void {
  const keys = ledger.snapshot.placements.map(placementKey);
  expect(engine.results().map(({ placement }) => placementKey(placement))).toEqual(keys);
  for (const key of keys)
    expect(renderCase(engine.trace(key) as PlacementTrace)).toStrictEqual(ledger.expected(key));
}

type Step = {
  readonly change: SnapshotDelta;
  readonly published?: { readonly placement: string; readonly clusters: readonly string[] } | undefined;
};

/** Takes the steps, and compares every decision with the plain one after each. */
function follow(given: Snapshot, steps: readonly Step[]): void {
  const engine = new PlacementEngine(given, { compileCel: cel });
  const ledger = new Ledger(given);
  engine.scheduleAll();
  for (const placement of given.placements) ledger.schedule(placementKey(placement));
  for (const step of steps) {
    const key = ledger.snapshot.placements
      .map(placementKey)
      .find((one) => one.endsWith(`/${step.published?.placement}`));
    if (key !== undefined && step.published !== undefined) {
      engine.recordPublished(key, step.published.clusters);
      ledger.publish(key, step.published.clusters);
    }
    const results = engine.applyDelta(step.change);
    ledger.change(step.change);
    for (const { placement } of results) ledger.schedule(placementKey(placement));
    expectSame(engine, ledger);
  }
  // And a full computation from here: of the engine, of a new engine, and plainly.
  const fresh = new PlacementEngine(engine.snapshot, { compileCel: cel }).scheduleAll();
  expect(engine.scheduleAll()).toStrictEqual(fresh);
  for (const placement of ledger.snapshot.placements) ledger.schedule(placementKey(placement));
  expectSame(engine, ledger);
}

describe('the engine equals the plain implementation', () => {
  it(`after any sequence of changes (${RUNS} runs)`, () => {
    fc.assert(
      fc.property(snapshot, fc.array(delta, { minLength: 1, maxLength: 3 }), (given, changes) =>
        follow(
          given,
          changes.map((change) => ({ change })),
        ),
      ),
      { numRuns: RUNS },
    );
  });

  const crowdRuns = Math.ceil(RUNS / 20);
  it(`where many clusters tie and stay, over long histories (${crowdRuns} runs of 12 changes)`, () => {
    taken.short = taken.long = 0;
    const step = fc.record({
      change: crowdDelta,
      published: fc.option(published, { nil: undefined, freq: 1 }),
    });
    fc.assert(fc.property(crowdedSnapshot, fc.array(step, { minLength: 12, maxLength: 12 }), follow), {
      numRuns: crowdRuns,
    });
    console.log(`engine-incremental: ${taken.short} decisions brought up to date, ${taken.long} made again`);
    // Without this the comparison could pass because everything is always made again.
    expect(taken.short).toBeGreaterThan(taken.long / 4);
  });
});
