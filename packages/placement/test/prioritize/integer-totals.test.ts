import { describe, expect, it } from 'vitest';
import { resolvePolicy, type WeightedPrioritizer } from '../../src/prioritize/registry.ts';
import { scoreClusters } from '../../src/prioritize/score-clusters.ts';
import { totalsBound, integerTotals } from '../../src/prioritize/integer-totals.ts';
import { makeBitset, putBit } from '../../src/snapshot/bitset.ts';
import { makeScoreInput } from './score-input.ts';

type Weights = Readonly<Record<string, number>>;

function prioritizersOf(weights: Weights): readonly WeightedPrioritizer[] {
  const configurations = Object.entries(weights).map(([name, weight]) => {
    const [type, resourceName = '', scoreName = ''] = name.split('/');
    return type === 'AddOn'
      ? { scoreCoordinate: { type, addOn: { resourceName, scoreName } } as const, weight }
      : { scoreCoordinate: { type: 'BuiltIn', builtIn: name } as const, weight };
  });
  const policy = resolvePolicy({ mode: 'Exact', configurations });
  if (!policy.ok) throw new Error(policy.error);
  return policy.prioritizers;
}

describe('totalsBound', () => {
  it.each<{ name: string; weights: Weights; want: number | undefined }>([
    { name: 'by default', weights: { Balance: 1, Steady: 1 }, want: 256 },
    { name: 'with a negative weight', weights: { Balance: -3 }, want: 384 },
    { name: 'with large weights', weights: { Balance: 100 }, want: undefined },
    { name: 'with a broken weight', weights: { Steady: 0.5 }, want: undefined },
    { name: 'with the score of an add-on', weights: { Steady: 1, 'AddOn/cpu/free': 1 }, want: undefined },
  ])('is known $name', ({ weights, want }) => {
    expect(totalsBound(prioritizersOf(weights))).toBe(want);
  });
});

describe('integerTotals', () => {
  it.each<{ name: string; weights: Weights }>([
    { name: 'Balance and Steady', weights: { Balance: 2, Steady: 3 } },
    { name: 'Steady alone', weights: { Steady: -1 } },
    {
      name: 'amounts, of which a cluster reports none',
      weights: { Balance: 1, ResourceAllocatableMemory: 2, Steady: 1 },
    },
  ])('are those of the columns: $name', ({ weights }) => {
    const size = 40;
    const prioritizers = prioritizersOf(weights);
    const input = makeScoreInput({
      counts: Array.from({ length: size }, (_, at) => at % 7),
      most: 7,
      decided: [1, 2, 33],
      amounts: Array.from({ length: size }, (_, at) => (at === 5 ? Number.NaN : at)),
    });
    const scores = Int8Array.from({ length: size }, (_, at) => (at * 37) % 100);
    const kept = new Map(weights['Balance'] === undefined ? [] : [['Balance', scores] as const]);
    const feasible = makeBitset(size);
    const clusters = Uint32Array.from([0, 1, 5, 31, 32, 33, 39]);
    for (const cluster of clusters) putBit(feasible, cluster, true);
    const scratch = {
      clusters: new Uint32Array(size),
      totals: new Int32Array(size),
      zeros: new Int8Array(size),
      floats: (_: number, count: number) => new Float64Array(count),
    };
    const whole = integerTotals({ feasible, input, kept }, prioritizers, scratch);
    const wanted = scoreClusters(prioritizers, { ...input, clusters }, kept);
    expect([...whole.clusters]).toEqual([...clusters]);
    expect([...whole.totals]).toEqual([...wanted.totals]);
    expect(whole.ranges).toEqual(wanted.ranges);
  });
});
