import { describe, expect, it } from 'vitest';
import type { CompiledPlacement } from '../../src/index/scheduling-index.ts';
import { feasibleClusters, isFeasible } from '../../src/filter/feasible.ts';
import { compileCel } from '../../src/filter/cel-hook.ts';
import { indexSnapshot } from '../../src/index/index-snapshot.ts';
import { hasBit, makeBitset, putBit } from '../../src/snapshot/bitset.ts';
import { snapshotOf } from '../snapshots.ts';

/** 40 clusters, so that the last word of a bitset is not full; every third is in the EU, every fourth tainted. */
const NAMES = Array.from({ length: 40 }, (_, at) => `c${String(at).padStart(2, '0')}`);
const SNAPSHOT = snapshotOf({
  clusters: NAMES.map((name, at) => ({
    name,
    labels: at % 3 === 0 ? { region: 'eu' } : {},
    taints: at % 4 === 0 ? [{ key: 'new', effect: 'NoSelectIfNew', timeAdded: '2026-03-01T11:00:00Z' }] : [],
  })),
  spec: { predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { region: 'eu' } } } }] },
});

function compiled(): CompiledPlacement {
  const [placement] = SNAPSHOT.placements;
  if (placement === undefined) throw new Error('the snapshot has no placement');
  return indexSnapshot(SNAPSHOT, compileCel).compile(placement);
}

describe('feasible clusters', () => {
  it.each([
    { name: 'nothing decided', decided: [], want: (at: number) => at % 3 === 0 && at % 4 !== 0 },
    {
      name: 'some decided',
      decided: [0, 12, 13],
      want: (at: number) => at % 3 === 0 && (at % 4 !== 0 || at < 13),
    },
    { name: 'all decided', decided: NAMES.keys(), want: (at: number) => at % 3 === 0 },
  ])('pass every filter: $name', ({ decided, want }) => {
    const prior = makeBitset(NAMES.length);
    for (const at of decided) putBit(prior, at, true);
    const bits = feasibleClusters(compiled(), prior);
    const wanted = NAMES.map((_, at) => want(at));
    expect(NAMES.map((_, at) => hasBit(bits, at))).toEqual(wanted);
    expect(NAMES.map((_, at) => isFeasible(compiled(), at, hasBit(prior, at)))).toEqual(wanted);
  });

  it('hold nothing beyond the fleet', () => {
    const bits = feasibleClusters(compiled(), makeBitset(NAMES.length));
    expect((bits.at(-1) as number) >>> (NAMES.length % 32)).toBe(0);
  });
});
