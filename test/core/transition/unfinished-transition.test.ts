import { describe, expect, it } from 'vitest';
import type { Placement } from '@berth/ocm/kind/placement';
import { type PlacementDecision, PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import {
  movesUnderWay,
  placementMovesOf,
  type PlacementMove,
} from '../../../src/core/transition/unfinished-transition.ts';
import { snapshotOf } from '../../../packages/placement/test/snapshots.ts';

const placement = (name: string): Placement => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: { name, namespace: 'team', uid: `uid-${name}` },
});

const page = (name: string, number: number, clusters: readonly string[]): PlacementDecision => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'PlacementDecision',
  metadata: {
    name: `${name}-decision-${number}`,
    namespace: 'team',
    labels: { [PLACEMENT_LABEL]: name },
  },
  status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
});

/** @param published pages of each placement: `{ a: [['c1'], ['c2']] }` */
function hub(published: Readonly<Record<string, readonly (readonly string[])[]>>): Snapshot {
  const names = Object.keys(published);
  const decisions = names.flatMap((name) =>
    (published[name] ?? []).map((clusters, at) => page(name, at + 1, clusters)),
  );
  return { ...snapshotOf({ clusters: [] }), placements: names.map(placement), decisions };
}

const move = (name: string, added: readonly string[], removed: readonly string[]): PlacementMove => ({
  placement: `team/${name}`,
  uid: `uid-${name}`,
  added,
  removed,
});

describe('placementMovesOf', () => {
  const moved = (before: readonly string[], after: readonly string[]) =>
    new Map([['team/a', { uid: 'uid-a', before, after }]]);

  it('names what each placement gains and loses', () => {
    expect(placementMovesOf(moved(['c1', 'c2'], ['c2', 'c3']))).toEqual([move('a', ['c3'], ['c1'])]);
  });

  it('is empty where nothing moves', () => {
    expect(placementMovesOf(new Map())).toEqual([]);
  });

  it('is empty where the names are too many to be kept', () => {
    const many = Array.from({ length: 150_000 }, (_, at) => `c${at}`);
    expect(placementMovesOf(moved(many, many.slice(1)))).toEqual([]);
  });
});

describe('movesUnderWay', () => {
  const MOVES = [move('a', ['c3'], ['c1']), move('b', ['c1'], ['c3'])];
  const cases = [
    {
      name: 'all of it when nothing was published',
      published: { a: [['c1', 'c2']], b: [['c3']] },
      want: {
        a: [
          ['c1', 'c2'],
          ['c2', 'c3'],
        ],
        b: [['c3'], ['c1']],
      },
    },
    { name: 'nothing when all was published', published: { a: [['c2', 'c3']], b: [['c1']] }, want: {} },
    {
      name: 'the rest when a part was published',
      published: { a: [['c1', 'c2', 'c3']], b: [['c1']] },
      want: {
        a: [
          ['c1', 'c2'],
          ['c2', 'c3'],
        ],
      },
    },
    { name: 'nothing of a placement that is gone', published: { a: [['c2', 'c3']] }, want: {} },
  ] as const;

  it.each(cases)('makes $name', ({ published, want }) => {
    const underWay = [...movesUnderWay(hub(published), MOVES)];
    const sorted = underWay.map(([name, { uid, before, after }]) => [
      name,
      { uid, before: [...before].sort(), after: [...after].sort() },
    ]);
    expect(Object.fromEntries(sorted)).toEqual(
      Object.fromEntries(
        Object.entries(want).map(([name, [before, after]]) => [
          `team/${name}`,
          { uid: `uid-${name}`, before, after },
        ]),
      ),
    );
  });

  it('makes nothing of a placement that was made again', () => {
    const again = [{ ...move('a', ['c3'], ['c1']), uid: 'another' }];
    expect(movesUnderWay(hub({ a: [['c1']] }), again).size).toBe(0);
  });
});
