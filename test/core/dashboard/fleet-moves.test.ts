import { describe, expect, it } from 'vitest';
import { fleetMoves, marksAt } from '../../../src/core/dashboard/fleet-moves.ts';
import { movedStep } from '../../../src/core/timeline/timeline.ts';
import type { TimelineStep } from '../../../src/core/timeline/timeline.ts';

const named = (...names: readonly string[]) => ({ count: names.length, names });
const moved = (minute: number, placement: string, added: string[], removed: string[]): TimelineStep =>
  movedStep({
    ...{ publishedAt: `2026-11-28T14:0${minute}:00.000Z`, placement, clusters: 2 },
    ...{ added: named(...added), removed: named(...removed) },
  });

const STORY: readonly TimelineStep[] = [
  moved(4, 'a/web', ['c4'], ['c2']),
  moved(3, 'a/web', [], []),
  { at: '2026-11-28T14:02:30.000Z', step: 'taint-added', cluster: 'c1', detail: 'disk' },
  moved(2, 'b/all', ['c9'], []),
  moved(1, 'a/web', ['c3'], ['c1']),
];
const PUBLISHED = ['c3', 'c4'];

describe('the moves of a story', () => {
  it('are those that gave or took clusters, the oldest first', () => {
    expect(fleetMoves(STORY).map(({ at, placement }) => [at.slice(14, 16), placement])).toEqual([
      ['01', 'a/web'],
      ['02', 'b/all'],
      ['04', 'a/web'],
    ]);
    expect(fleetMoves(STORY, 'a/web').map(({ detail }) => detail)).toEqual([
      'added c3, removed c1',
      'added c4, removed c2',
    ]);
  });

  it.each([
    {
      name: 'the last move',
      at: 1,
      published: PUBLISHED,
      want: { c3: 'ran', c4: 'gained', c2: 'lost' },
    },
    {
      name: 'an earlier one',
      at: 0,
      published: PUBLISHED,
      want: { c2: 'ran', c3: 'gained', c1: 'lost' },
    },
    {
      name: 'of which nothing else is known',
      at: 0,
      published: undefined,
      want: { c3: 'gained', c1: 'lost' },
    },
    { name: 'that is not there', at: 2, published: PUBLISHED, want: {} },
  ])('mark the clusters of $name', ({ at, published, want }) => {
    expect(Object.fromEntries(marksAt(fleetMoves(STORY, 'a/web'), at, published))).toEqual(want);
  });

  it('mark no other clusters where a later move does not name all of its own', () => {
    const [first, second] = fleetMoves(STORY, 'a/web');
    const cut = { ...second, added: { count: 30, names: ['c4'] } };
    const marks = marksAt([first, cut] as Parameters<typeof marksAt>[0], 0, PUBLISHED);
    expect(Object.fromEntries(marks)).toEqual({ c3: 'gained', c1: 'lost' });
  });
});
