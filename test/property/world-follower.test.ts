import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileCel, rememberCel } from '../../src/core/placement/filter/cel-hook.ts';
import { PlacementEngine } from '../../src/core/placement/engine.ts';
import { decisionObjects } from '../../src/core/placement/case/render-case.ts';
import type { ScheduleResult } from '../../src/core/placement/schedule-result.ts';
import { placementKey } from '../../src/core/placement/scheduling-index.ts';
import type { WorldDelta } from '../../src/core/placement/follow/world-delta.ts';
import { applyToWorld } from '../../src/core/placement/follow/world-delta.ts';
import { WorldFollower } from '../../src/core/placement/follow/world-follower.ts';
import type { World } from '../../src/core/snapshot/world.ts';
import { crowdDelta, crowdedWorld, delta, world } from './arbitrary-world.ts';

const RUNS = Number(process.env['BERTH_PROPERTY_RUNS'] ?? 10_000);
const SEED = Number(process.env['BERTH_PROPERTY_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const cel = rememberCel(compileCel);

interface Pass {
  readonly change: WorldDelta;
  /** Which of the results are published before the next pass; the others are held. */
  readonly published: readonly boolean[];
  /** Numbers of the placements that are listed before the others. */
  readonly first: readonly number[];
  /** How many results are asked for. */
  readonly asked: number;
}

const passOf = (change: fc.Arbitrary<WorldDelta>): fc.Arbitrary<Pass> =>
  fc.record({
    change,
    published: fc.array(fc.constantFrom(true, true, true, false), { minLength: 5, maxLength: 5 }),
    first: fc.oneof(fc.constant([]), fc.uniqueArray(fc.nat({ max: 4 }), { maxLength: 3 })),
    asked: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 5 })),
  });

/** As a controller does it: the same page objects as long as nothing is written. */
function publish(given: World, results: readonly ScheduleResult[], published: Pass['published']): World {
  let { decisions } = given;
  results.forEach((result, at) => {
    if (published[at] !== true || result.outcome === 'skipped') return;
    const pages = decisionObjects(result);
    const key = placementKey(result.placement);
    const isOwn = ({ metadata }: (typeof decisions)[number]): boolean =>
      `${metadata.namespace}/${metadata.labels?.['cluster.open-cluster-management.io/placement']}` === key;
    const before = decisions.filter(isOwn);
    if (JSON.stringify(before) === JSON.stringify(pages)) return;
    decisions = [...decisions.filter((one) => !isOwn(one)), ...pages];
  });
  return { ...given, decisions };
}

/** As a hub lists them, a new placement not as the last; those that are urgent before the others. */
function listed(given: World, first: Pass['first'] = []): World {
  const byKey = given.placements.toSorted((a, b) => (placementKey(a) < placementKey(b) ? -1 : 1));
  const urgent = first.flatMap((at) => byKey[at] ?? []);
  return { ...given, placements: [...urgent, ...byKey.filter((one) => !urgent.includes(one))] };
}

/** The first results, and no more of them computed. */
function ask(results: Iterable<ScheduleResult>, count: number): readonly ScheduleResult[] {
  const taken: ScheduleResult[] = [];
  for (const result of results) if (taken.push(result) >= count) break;
  return taken;
}

function follow(given: World, passes: readonly Pass[]): void {
  const follower = new WorldFollower({ compileCel: cel });
  let current = listed(given);
  for (const { change, published, first, asked } of passes) {
    const results = ask(follower.decide(current), asked);
    const wanted = new PlacementEngine(current, { compileCel: cel }).scheduleAll();
    expect(results).toStrictEqual(wanted.slice(0, asked));
    current = listed(applyToWorld(publish(current, results, published), change), first);
  }
  const last = [...follower.decide(current)];
  const settled = publish(current, last, [true, true, true, true, true]);
  expect([...follower.decide(settled)]).toStrictEqual(
    new PlacementEngine(settled, { compileCel: cel }).scheduleAll(),
  );
}

describe('following the worlds that a controller reads', () => {
  it(`decides each as a new engine would (${RUNS / 4} runs, seed ${SEED})`, () => {
    const passes = fc.array(passOf(delta), { minLength: 2, maxLength: 4 });
    fc.assert(fc.property(world, passes, follow), { numRuns: Math.ceil(RUNS / 4), seed: SEED });
  });

  it(`where many clusters tie and stay (${RUNS / 50} runs, seed ${SEED})`, () => {
    const passes = fc.array(passOf(crowdDelta), { minLength: 10, maxLength: 10 });
    fc.assert(fc.property(crowdedWorld, passes, follow), { numRuns: Math.ceil(RUNS / 50), seed: SEED });
  });

  it('hands out the same results while nothing changes', () => {
    fc.assert(
      fc.property(crowdedWorld, (given) => {
        const follower = new WorldFollower({ compileCel: cel });
        let current = given;
        // Each pass feeds the next; after a few nothing moves any more, or two placements take turns for ever.
        for (let pass = 0; pass < 4; pass++)
          current = publish(current, [...follower.decide(current)], [true, true, true]);
        const before = [...follower.decide(current)];
        const next = publish(current, before, [true, true, true]);
        if (next.decisions === current.decisions)
          expect([...follower.decide(next)].every((one, at) => one === before[at])).toBe(true);
      }),
      { numRuns: 20, seed: SEED },
    );
  });
});
