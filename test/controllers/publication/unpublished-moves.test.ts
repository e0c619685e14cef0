import { describe, expect, it } from 'vitest';
import { UnpublishedMoves } from '../../../src/controllers/publication/last-transition.ts';
import { type PlacementDecision, PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { snapshotOf } from '../../../packages/placement/test/snapshots.ts';

const page = (name: string, clusters: readonly string[]): PlacementDecision => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'PlacementDecision',
  metadata: { name: `${name}-decision-1`, namespace: 'team', labels: { [PLACEMENT_LABEL]: name } },
  status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
});

/** Two placements, `a` and `b`, and what is published for them. */
const hub = (a: readonly string[], b: readonly string[]): Snapshot => ({
  ...snapshotOf({ clusters: [] }),
  placements: ['a', 'b'].map((name) => ({
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'Placement',
    metadata: { name, namespace: 'team', uid: `uid-${name}` },
  })),
  decisions: [page('a', a), page('b', b)],
});
const listed = ({ decisions }: Snapshot) =>
  decisions.map(({ status }) => status?.decisions?.map(({ clusterName }) => clusterName));
const move = (name: string, before: readonly string[], after: readonly string[]) => ({
  moved: new Map([[`team/${name}`, { uid: `uid-${name}`, before, after }]]),
});

describe('moves under way', () => {
  it('leave the snapshot as it is where there are none', () => {
    const snapshot = hub(['c1'], ['c2']);
    expect(new UnpublishedMoves().snapshotAfter(snapshot)).toBe(snapshot);
  });

  it('are in the snapshot as if they were published, until they are', () => {
    const moves = new UnpublishedMoves();
    moves.begin(move('a', ['c1'], ['c2']));
    expect(listed(moves.snapshotAfter(hub(['c1'], ['c2'])))).toEqual([['c2'], ['c2']]);
    moves.end('team/a');
    expect(listed(moves.snapshotAfter(hub(['c1'], ['c2'])))).toEqual([['c1'], ['c2']]);
  });

  it('name what was published before the first of them', () => {
    const moves = new UnpublishedMoves();
    moves.begin(move('a', ['c1'], ['c2']));
    moves.begin(move('b', ['c2'], ['c1']));
    const all = moves.begin(move('a', ['c2'], ['c3']));
    expect([...all]).toEqual([
      ['team/a', { uid: 'uid-a', before: ['c1'], after: ['c3'] }],
      ['team/b', { uid: 'uid-b', before: ['c2'], after: ['c1'] }],
    ]);
  });

  it('count on half of a commit only when it turns out to be whole', () => {
    const moves = new UnpublishedMoves();
    const [start, other] = [hub(['c1'], ['c2']), hub(['c1'], ['c2'])];
    moves.wait(move('a', ['c1'], ['c2']), start);
    expect(moves.beginWaiting(other)).toBeUndefined();
    expect(moves.snapshotAfter(start)).toBe(start);
    expect([...(moves.beginWaiting(start) ?? [])]).toEqual([
      ['team/a', { uid: 'uid-a', before: ['c1'], after: ['c2'] }],
    ]);
    expect(listed(moves.snapshotAfter(start))).toEqual([['c2'], ['c2']]);
  });

  it('go on with those that an earlier process decided', () => {
    const moves = new UnpublishedMoves();
    moves.resume(move('a', ['c1'], ['c2']).moved);
    expect(listed(moves.snapshotAfter(hub(['c1'], ['c2'])))).toEqual([['c2'], ['c2']]);
    moves.end('team/a');
    expect(listed(moves.snapshotAfter(hub(['c1'], ['c2'])))).toEqual([['c1'], ['c2']]);
  });

  it('do not concern another placement of the same name', () => {
    const moves = new UnpublishedMoves();
    moves.begin({ moved: new Map([['team/a', { uid: 'old', before: ['c1'], after: ['c2'] }]]) });
    expect(listed(moves.snapshotAfter(hub(['c1'], ['c2'])))).toEqual([['c1'], ['c2']]);
  });
});
