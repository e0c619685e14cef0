import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fleet, memoryHub } from '../controllers/works/work-fleet.ts';
import { FaultyKubeApi } from '../fakes/faulty-kube-api.ts';

const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
const GOOD = { Applied: 'True', Available: 'True' } as const;
const strategy = (maxConcurrency: number) => ({ type: 'Progressive', progressive: { maxConcurrency } });

type Step =
  | { readonly do: 'select'; readonly clusters: readonly string[] }
  | { readonly do: 'template'; readonly value: number }
  | { readonly do: 'report'; readonly clusters: readonly string[]; readonly good: boolean }
  | { readonly do: 'restart' }
  | { readonly do: 'expire' }
  | { readonly do: 'meddle'; readonly cluster: string }
  | { readonly do: 'faults'; readonly chance: number };

const some = fc.subarray(CLUSTERS, { minLength: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('select' as const), clusters: some }),
  fc.record({ do: fc.constant('template' as const), value: fc.nat(3) }),
  fc.record({ do: fc.constant('report' as const), clusters: some, good: fc.boolean() }),
  fc.record({ do: fc.constant('restart' as const) }),
  fc.record({ do: fc.constant('expire' as const) }),
  fc.record({ do: fc.constant('meddle' as const), cluster: fc.constantFrom(...CLUSTERS) }),
  fc.record({ do: fc.constant('faults' as const), chance: fc.constantFrom(0, 0.2, 0.5) }),
);

/** Small, seeded: the faults of a history belong to the history. */
function randomFrom(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Plays a history; throws when a rule is broken on the way or at the end. */
async function play(steps: readonly Step[], maxConcurrency: number, seed: number): Promise<void> {
  const hub = memoryHub();
  const fleet = new Fleet(hub);
  const faults = { chance: 0, random: randomFrom(seed) };
  const api = new FaultyKubeApi(fleet.hub, faults);
  let selected: readonly string[] = ['c1', 'c2'];
  let value = '0';
  const succeeded = new Set<string>();
  await fleet.place('all', selected);
  await fleet.replicaSet(value, { strategy: strategy(maxConcurrency) });
  await fleet.start(api);
  try {
    for (const s of steps) {
      if (s.do === 'select') await fleet.place('all', (selected = s.clusters));
      if (s.do === 'template')
        await fleet.replicaSet((value = String(s.value)), { strategy: strategy(maxConcurrency) });
      if (s.do === 'report') await fleet.report(s.clusters, s.good ? GOOD : { Applied: 'False' });
      if (s.do === 'restart') {
        await fleet.stop();
        await fleet.start(api);
      }
      if (s.do === 'expire') hub.expire();
      if (s.do === 'meddle') await fleet.meddle(s.cluster);
      if (s.do === 'faults') faults.chance = s.chance;
      await fleet.settle(20_000);
      await expectNoOvertaking(fleet, { value, maxConcurrency, succeeded });
    }
    await expectConvergence(fleet, faults, { selected, value });
    const before = hub.writes.length;
    await fleet.settle(3_600_000);
    expect(hub.writes.slice(before)).toEqual([]);
  } finally {
    await fleet.stop();
  }
}

/**
 * Never more clusters with the new content that have not succeeded with it than may be worked on at a time. One that succeeded once lets
 * the next one begin, also when it fails later.
 * @param succeeded contents that succeeded at an earlier look
 */
async function expectNoOvertaking(
  fleet: Fleet,
  { value, maxConcurrency, succeeded }: { value: string; maxConcurrency: number; succeeded: Set<string> },
): Promise<void> {
  const works = await fleet.reported();
  for (const work of works) if (work.succeeded) succeeded.add(work.content);
  const open = works.filter(
    ({ content, value: has, everOther }) => has === value && everOther && !succeeded.has(content),
  );
  expect(open.length).toBeLessThanOrEqual(maxConcurrency);
}

async function expectConvergence(
  fleet: Fleet,
  faults: { chance: number },
  want: { readonly selected: readonly string[]; readonly value: string },
): Promise<void> {
  faults.chance = 0;
  for (let round = 0; round < CLUSTERS.length + 2; round++) {
    await fleet.settle(700_000);
    await fleet.report(CLUSTERS, GOOD);
  }
  await fleet.settle(700_000);
  expect(await fleet.contents()).toEqual(
    Object.fromEntries(want.selected.map((cluster) => [cluster, want.value])),
  );
  expect(await fleet.works()).toHaveLength(want.selected.length);
  expect((await fleet.conditions())['PlacementRolledOut']).toBe('True Complete');
}

/** One cluster succeeds, the next one begins, and the first one fails. */
const FAILS_AFTER_SUCCESS: [Step[], number, number] = [
  [
    { do: 'report', clusters: ['c1'], good: true },
    { do: 'template', value: 1 },
    { do: 'report', clusters: ['c1'], good: true },
    { do: 'report', clusters: ['c1'], good: false },
  ],
  1,
  0,
];

describe('random histories of a replica set', () => {
  it('end with exactly the selected clusters on the current content, without overtaking on the way', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(),
        (steps, maxConcurrency, seed) => play(steps, maxConcurrency, seed),
      ),
      { numRuns: Number(process.env['BERTH_HISTORIES'] ?? 150), examples: [FAILS_AFTER_SUCCESS] },
    );
  });
});
