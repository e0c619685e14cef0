import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterHealth } from '../../../../src/core/argocd/waves/cluster-health.ts';
import { planWaves, type WaveInputs, type WavePlan } from '../../../../src/core/argocd/waves/plan-waves.ts';
import type { PlacementWaves } from '../../../../src/core/argocd/waves/wave-state.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 7, 1, 12);
const SOAK = { count: 3, soakMs: 10 * MINUTE };
const STICKY = { count: 3, soakMs: undefined };

const decided = (...groups: readonly (readonly string[])[]): WaveInputs['groups'] =>
  groups.map((names, index) => ({
    name: '',
    index,
    decisions: names.map((clusterName) => ({ clusterName, reason: '' })),
  }));
/** `a` served in wave 0, `-b` held: `wavesOf('a', '-b')`. */
const waves = (...names: readonly string[]): PlacementWaves => ({
  clusters: new Map(
    names.flatMap((text, wave) =>
      text
        .split(' ')
        .filter((name) => name !== '')
        .map((name) => [name.replace(/^-/, ''), { wave, isServed: !name.startsWith('-') }] as const),
    ),
  ),
  healthySinceMs: [],
});
const text = ({ waves: { clusters } }: WavePlan): readonly string[] =>
  Array.from({ length: 3 }, (_, wave) =>
    [...clusters]
      .filter(([, one]) => one.wave === wave)
      .map(([name, { isServed }]) => (isServed ? name : `-${name}`))
      .join(' '),
  );
const healthy = (minutesAgo?: number): ClusterHealth => ({
  kind: 'healthy',
  sinceMs: minutesAgo === undefined ? undefined : NOW - minutesAgo * MINUTE,
});
const is = (kind: 'progressing' | 'failing', name: string): ClusterHealth => ({
  kind,
  why: `Application ${name} is ${kind}`,
});
const plan = (given: Partial<WaveInputs>): WavePlan =>
  planWaves({
    rule: SOAK,
    groups: [],
    before: undefined,
    health: new Map(),
    healthProblem: undefined,
    nowMs: NOW,
    ...given,
  });

describe('the wave of a cluster', () => {
  it.each([
    {
      name: 'is that of its decision group at first',
      groups: decided(['a'], ['b', 'c'], ['d']),
      before: undefined,
      want: ['a', 'b c', 'd'],
    },
    {
      name: 'is the last one where there are more groups',
      groups: decided(['a'], ['b'], ['c'], ['d'], ['e']),
      before: undefined,
      want: ['a', 'b', 'c d e'],
    },
    {
      name: 'stays when a new cluster moves it to another group',
      groups: decided(['0', 'a'], ['b', 'c'], ['d']),
      before: waves('a b', 'c d'),
      want: ['0 a b', 'c d', ''],
    },
    {
      name: 'stays when all groups are gone',
      groups: decided(['a', 'b', 'c']),
      before: waves('a', 'b', 'c'),
      want: ['a', 'b', 'c'],
    },
    {
      name: 'ends with its selection: a cluster that comes back is new',
      groups: decided(['b'], ['a']),
      before: waves('', 'b'),
      want: ['', 'b a', ''],
    },
    {
      name: 'is bounded when there are fewer waves than before',
      groups: decided(['a'], ['b'], ['c']),
      before: waves('a', 'b', '', '', 'c'),
      want: ['a', 'b', 'c'],
    },
    {
      name: 'stays also while the cluster is held, and without a soak time nothing is',
      groups: decided(['a', 'b']),
      before: waves('a', '-b'),
      want: ['a', 'b', ''],
    },
  ])('$name', ({ groups, before, want }) => {
    const planned = plan({ rule: STICKY, groups, before });
    expect(text(planned)).toEqual(want);
    expect(planned.held).toBeUndefined();
  });
});

describe('a wave is served when the one before is healthy and has soaked', () => {
  const groups = decided(['a', 'b'], ['c'], ['d']);
  it.each([
    {
      name: 'at first only wave 0',
      want: ['a b', '-c', '-d'],
      held: '2 clusters wait, from wave w1 on: wave w0 has no Application yet for a, b',
    },
    {
      name: 'not while an Application is not healthy',
      before: waves('a b', '-c', '-d'),
      health: { a: healthy(60), b: is('failing', 'b') },
      want: ['a b', '-c', '-d'],
      held: '2 clusters wait, from wave w1 on: wave w0 is not healthy: Application b is failing',
      reason: 'failing',
    },
    {
      name: 'not while an Application is on its way',
      before: waves('a b', '-c', '-d'),
      health: { a: is('progressing', 'a'), b: healthy(60) },
      want: ['a b', '-c', '-d'],
      held: '2 clusters wait, from wave w1 on: wave w0 is not healthy yet: Application a is progressing',
    },
    {
      name: 'not while it soaks, counted from the last Application',
      before: waves('a b', '-c', '-d'),
      health: { a: healthy(60), b: healthy(4) },
      want: ['a b', '-c', '-d'],
      held: '2 clusters wait, from wave w1 on: wave w0 is healthy, and soaks until 2026-08-01T12:06:00Z',
      reason: 'soaking',
      againAfterMs: 6 * MINUTE,
    },
    {
      name: 'then the next one, and no further',
      before: waves('a b', '-c', '-d'),
      health: { a: healthy(60), b: healthy(10) },
      want: ['a b', 'c', '-d'],
      held: '1 cluster waits, from wave w2 on: wave w1 has no Application yet for c',
    },
    {
      name: 'at the end all of them',
      before: waves('a b', 'c', '-d'),
      health: { a: healthy(60), b: healthy(60), c: healthy(10) },
      want: ['a b', 'c', 'd'],
    },
    {
      name: 'a wave that is not healthy any more takes no cluster away',
      before: waves('a b', 'c', 'd'),
      health: { a: is('failing', 'a') },
      want: ['a b', 'c', 'd'],
    },
    {
      name: 'nor does health that is not known',
      before: waves('a b', 'c', '-d'),
      health: { a: healthy(60), b: healthy(60), c: healthy(60) },
      healthProblem: 'Applications were last confirmed 400 s ago',
      want: ['a b', 'c', '-d'],
      held: '1 cluster waits, from wave w2 on: wave w0 is not known to be healthy: Applications were last confirmed 400 s ago',
      reason: 'failing',
    },
    {
      name: 'a cluster with an Application counts as served, also where nothing is written',
      health: { a: healthy(60), b: healthy(1), d: healthy(60) },
      want: ['a b', '-c', 'd'],
      held: '1 cluster waits, from wave w1 on: wave w0 is healthy, and soaks until 2026-08-01T12:09:00Z',
      reason: 'soaking',
      againAfterMs: 9 * MINUTE,
    },
    {
      name: 'an empty wave makes nobody wait',
      groups: decided([], ['c'], ['d']),
      want: ['', 'c', '-d'],
      held: '1 cluster waits, from wave w2 on: wave w1 has no Application yet for c',
    },
    {
      name: 'a new cluster of the first wave does not wait, and the others wait for it',
      groups: decided(['a', 'b', 'new'], ['c', 'later'], ['d']),
      before: waves('a b', 'c', 'd'),
      health: { a: healthy(60), b: healthy(60), c: healthy(60), d: healthy(60) },
      want: ['a b new', 'c -later', 'd'],
      held: '1 cluster waits, from wave w1 on: wave w0 has no Application yet for new',
    },
    {
      name: 'a time in the future is that of another clock, and counts as now',
      before: waves('a b', '-c', '-d'),
      health: { a: healthy(60), b: healthy(-600) },
      want: ['a b', '-c', '-d'],
      held: '2 clusters wait, from wave w1 on: wave w0 is healthy, and soaks until 2026-08-01T12:10:00Z',
      reason: 'soaking',
      againAfterMs: 10 * MINUTE,
    },
    {
      name: 'an empty decision holds nothing',
      groups: decided([]),
      before: waves('a b', '-c'),
      want: ['', '', ''],
    },
  ])('$name', ({ health = {}, want, held, reason = 'progressing', againAfterMs, ...given }) => {
    const planned = plan({ groups, ...given, health: new Map(Object.entries(health)) });
    expect(text(planned)).toEqual(want);
    expect(planned.held?.message).toBe(held);
    expect(planned.held?.reason).toBe(held === undefined ? undefined : reason);
    expect(planned.againAfterMs).toBe(againAfterMs);
  });

  it('without a time of Argo CD, counted from when it was first seen healthy, and again after each interruption', () => {
    const health = new Map([
      ['a', healthy()],
      ['b', healthy()],
    ]);
    const first = plan({ groups, before: waves('a b', '-c', '-d'), health });
    expect(first.againAfterMs).toBe(10 * MINUTE);
    const second = plan({ groups, before: first.waves, health, nowMs: NOW + 6 * MINUTE });
    expect(second.againAfterMs).toBe(4 * MINUTE);
    const ill = plan({
      groups,
      before: second.waves,
      health: new Map([...health, ['b', is('failing', 'b')]]),
      nowMs: NOW + 7 * MINUTE,
    });
    const third = plan({ groups, before: ill.waves, health, nowMs: NOW + 8 * MINUTE });
    expect(third.againAfterMs).toBe(10 * MINUTE);
    expect(text(plan({ groups, before: third.waves, health, nowMs: NOW + 18 * MINUTE }))).toEqual([
      'a b',
      'c',
      '-d',
    ]);
  });

  it('an interruption that nobody saw counts, as Argo CD reports it', () => {
    const before = { ...waves('a b', '-c', '-d'), healthySinceMs: [NOW - 30 * MINUTE] };
    const health = new Map([
      ['a', healthy(60)],
      ['b', healthy(2)],
    ]);
    expect(plan({ groups, before, health }).againAfterMs).toBe(8 * MINUTE);
  });
});

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const anyHealth = fc.constantFrom<ClusterHealth | undefined>(
  undefined,
  healthy(),
  healthy(5),
  healthy(60),
  is('failing', 'x'),
);
const step = fc.record({
  groups: fc.array(fc.subarray(NAMES), { maxLength: 4 }).map((groups) => {
    const seen = new Set<string>();
    return decided(...groups.map((names) => names.filter((name) => !seen.has(name) && seen.add(name))));
  }),
  health: fc.dictionary(fc.constantFrom(...NAMES), anyHealth),
  minutes: fc.nat(30),
  isKnown: fc.boolean(),
});

describe('whatever happens', () => {
  it('who was served stays served and in its wave while it is selected, and all waves are below the bound', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 2, maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        (steps, count) => {
          let before: PlacementWaves | undefined;
          let nowMs = NOW;
          for (const { groups, health, minutes, isKnown } of steps) {
            nowMs += minutes * MINUTE;
            const known = Object.entries(health).filter(
              (entry): entry is [string, ClusterHealth] => entry[1] !== undefined,
            );
            const { waves: after } = plan({
              rule: { count, soakMs: 10 * MINUTE },
              ...{ groups, before, nowMs },
              health: new Map(known),
              healthProblem: isKnown ? undefined : 'nobody answers',
            });
            const selected = groups.flatMap(({ decisions }) =>
              decisions.map(({ clusterName }) => clusterName),
            );
            expect([...after.clusters.keys()].sort()).toEqual([...selected].sort());
            for (const [name, { wave, isServed }] of after.clusters) {
              expect(wave).toBeLessThan(count);
              const earlier = before?.clusters.get(name);
              if (earlier === undefined) continue;
              expect(wave).toBe(earlier.wave);
              if (earlier.isServed) expect(isServed).toBe(true);
            }
            before = after;
          }
        },
      ),
    );
  });
});
