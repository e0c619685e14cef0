import { describe, expect, it } from 'vitest';
import { compileCel } from '../../src/filter/cel-hook.ts';
import { feasibleClusters, isFeasible } from '../../src/filter/feasible.ts';
import { ClusterGroup } from '../../src/incremental/cluster-group.ts';
import { indexSnapshot } from '../../src/index/index-snapshot.ts';
import type { CompiledPlacement } from '../../src/index/scheduling-index.ts';
import { hasBit, makeBitset, putBit } from '../../src/snapshot/bitset.ts';
import { snapshotOf } from '../snapshots.ts';

const SIZE = 200;
const SNAPSHOT = snapshotOf({
  clusters: Array.from({ length: SIZE }, (_, at) => ({
    name: `c${String(at).padStart(3, '0')}`,
    taints:
      at % 3 === 0
        ? [{ key: 'new', effect: 'NoSelectIfNew' as const, timeAdded: '2026-03-01T11:00:00Z' }]
        : [],
  })),
});

function compiled(avoidPreferNoSelect: boolean): CompiledPlacement {
  const [placement] = SNAPSHOT.placements;
  if (placement === undefined) throw new Error('the snapshot has no placement');
  return { ...indexSnapshot(SNAPSHOT, compileCel).compile(placement), avoidPreferNoSelect };
}

function bitsOf(part: number) {
  const bits = makeBitset(SIZE);
  for (let at = 0; at < SIZE; at += part) putBit(bits, at, true);
  return bits;
}

describe('ClusterGroup', () => {
  const cases = [3, 32, 33, SIZE].flatMap((count) =>
    [false, true].map((avoids) => ({
      name: `${count} clusters, ${avoids ? 'with' : 'no'} tie-break`,
      count,
      avoids,
    })),
  );

  it.each(cases)('finds the same clusters one by one and in whole sets: $name', ({ count, avoids }) => {
    const placement = compiled(avoids);
    const [prior, set] = [bitsOf(6), bitsOf(5)];
    const before = feasibleClusters(placement, prior);
    for (let at = 0; at < SIZE; at += 7) putBit(before, at, !hasBit(before, at));
    const clusters = Array.from({ length: count }, (_, at) => SIZE - 1 - at).sort((a, b) => a - b);
    const group = new ClusterGroup(clusters, SIZE);
    expect(group.within(set)).toEqual(clusters.filter((cluster) => hasBit(set, cluster)));
    expect(group.noticedBy(placement, { feasible: before, prior })).toEqual(
      clusters.filter((cluster) => {
        const after = isFeasible(placement, cluster, hasBit(prior, cluster));
        return after !== hasBit(before, cluster) || (after && avoids);
      }),
    );
  });
});
