import { describe, expect, it } from 'vitest';
import { rankPositions, rankByCounting } from '../../src/select/rank.ts';

function rank(totals: readonly number[], limit = Infinity, bound = 300) {
  const clusters = Uint32Array.from(totals, (_, at) => at * 3);
  const into = {
    order: new Uint32Array(totals.length),
    totals: new Float64Array(totals.length),
    // What an earlier decision left there.
    levels: new Uint32Array(1_000).fill(7),
  };
  const ranked = rankByCounting({ clusters, totals: Int32Array.from(totals) }, { bound, limit }, into);
  return { order: [...ranked.order], totals: [...ranked.totals] };
}

describe('rankByCounting', () => {
  it.each([
    { name: 'the largest total first', totals: [-100, 200, 0], order: [3, 6, 0] },
    { name: 'equal totals in the order of the clusters', totals: [5, 7, 5, 7], order: [3, 9, 0, 6] },
    { name: 'both bounds', totals: [-300, 300], order: [3, 0] },
    { name: 'only so many, those of the last level by order', totals: [1, 2, 1, 1], limit: 2, order: [3, 0] },
    { name: 'none when none are asked for', totals: [1, 2], limit: 0, order: [] },
    { name: 'none of none', totals: [], order: [] },
  ])('ranks $name', ({ totals, order, limit }) => {
    const ranked = rank(totals, limit);
    expect(ranked.order).toEqual(order);
    expect(ranked.totals).toEqual(order.map((cluster) => totals[cluster / 3]));
  });

  it.each([Infinity, 100, 1])('ranks as comparing does, at most %d', (limit) => {
    const totals = Array.from({ length: 500 }, (_, at) => ((at * 7_919) % 601) - 300);
    const wanted = [...rankPositions(Float64Array.from(totals), limit, undefined)];
    const { order, totals: of } = rank(totals, limit);
    expect(order).toEqual(wanted.map((position) => position * 3));
    expect(of).toEqual(wanted.map((position) => totals[position]));
  });
});
