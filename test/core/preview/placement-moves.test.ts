import { describe, expect, it } from 'vitest';
import { pairMoves } from '../../../src/core/preview/make-plan.ts';

const REGIONS: Readonly<Record<string, string>> = { a: 'eu', b: 'us', c: 'eu', d: 'us' };
const move = (cluster: string, points?: number) => ({
  cluster,
  because: `because of ${cluster}`,
  causes: [],
  ...(points === undefined ? {} : { points }),
});

describe('pairMoves', () => {
  it.each([
    { name: 'the same region first', removed: ['a', 'b'], added: ['d', 'c'], want: ['a→c', 'b→d'] },
    { name: 'another region where there is none', removed: ['a', 'b'], added: ['d'], want: ['b→d'] },
    { name: 'the rest in order', removed: ['a', 'c'], added: ['d', 'b'], want: ['a→d', 'c→b'] },
    { name: 'unknown clusters', removed: ['x'], added: ['y'], want: ['x→y'] },
    { name: 'only removals', removed: ['a'], added: [], want: [] },
    { name: 'only additions', removed: [], added: ['a'], want: [] },
  ])('pairs $name', ({ removed, added, want }) => {
    const moves = pairMoves(
      removed.map((name) => move(name)),
      added.map((name) => move(name)),
      (name) => REGIONS[name],
    );
    expect(moves.map(({ from, to }) => `${from}→${to}`)).toEqual(want);
  });

  it('gives the margin where both are scored', () => {
    const none = () => undefined;
    expect(pairMoves([move('a', 40)], [move('b', 100)], none)[0]).toMatchObject({
      because: 'because of a',
      margin: 60,
    });
    expect(pairMoves([move('a')], [move('b', 100)], none)[0]?.margin).toBeUndefined();
  });
});
