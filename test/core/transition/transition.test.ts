import { describe, expect, it } from 'vitest';
import type { Placement, PlacementSpec } from '@berth/ocm/kind/placement';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import { type ResultGenerator, scheduleAll, scheduleEach } from '@berth/placement/engine';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { TransitionOptions } from '../../../src/core/transition/transition.ts';
import { completeTransition } from '../../../src/core/transition/transition.ts';
import { snapshotOf } from '../../../packages/placement/test/snapshots.ts';

const BALANCE: PlacementSpec = {
  numberOfClusters: 1,
  prioritizerPolicy: {
    mode: 'Exact',
    configurations: [{ scoreCoordinate: { type: 'BuiltIn', builtIn: 'Balance' }, weight: 1 }],
  },
};

const placement = (name: string, spec: PlacementSpec = BALANCE): Placement => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: { name, namespace: 'team' },
  spec,
});

/** As a controller writes it: it is deleted with its placement. */
const page = (name: string, clusters: readonly string[], owned = true): PlacementDecision => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'PlacementDecision',
  metadata: {
    name: `${name}-decision-1`,
    namespace: 'team',
    labels: { [PLACEMENT_LABEL]: name },
    ...(owned && {
      ownerReferences: [
        { apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'Placement', name, uid: 'u' },
      ],
    }),
  },
  status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
});

function hub(placements: readonly Placement[], decisions: readonly PlacementDecision[], count = 2): Snapshot {
  const clusters = Array.from({ length: count }, (_, at) => ({ name: `c${at + 1}` }));
  return { ...snapshotOf({ clusters }), placements, decisions };
}

const options: TransitionOptions = { decide: scheduleEach, outcomeOf: (_key, { selected }) => selected };
const selectedOf = (results: ReadonlyMap<string, ScheduleResult>) =>
  Object.fromEntries([...results].map(([key, { selected }]) => [key.slice('team/'.length), selected]));

describe('a transition', () => {
  it('moves nothing where everything is published, in one round', () => {
    const { rounds, results } = completeTransition(
      options,
      hub([placement('a'), placement('b')], [page('a', ['c1']), page('b', ['c2'])]),
    );
    expect([rounds, selectedOf(results)]).toEqual([1, { a: ['c1'], b: ['c2'] }]);
  });

  it('ends only when decisions that depend on each other are at rest', () => {
    const start = hub([placement('a'), placement('b')], [page('a', ['c1']), page('b', ['c1'])]);
    const { rounds, results, snapshot } = completeTransition(options, start);
    expect([rounds, selectedOf(results)]).toEqual([2, { a: ['c2'], b: ['c1'] }]);
    expect(snapshot.decisions.map(({ status }) => status?.decisions)).toMatchObject([
      [{ clusterName: 'c2' }],
      [{ clusterName: 'c1' }],
    ]);
  });

  it('does not count the decisions of a placement that is gone, whether or not the hub has removed them yet', () => {
    const gone = page('gone', ['c1']);
    const at = (decisions: readonly PlacementDecision[]) =>
      selectedOf(completeTransition(options, hub([placement('a')], decisions)).results);
    expect(at([gone])).toEqual(at([]));
    // The garbage collector took the owner out that is gone, and left the other one.
    const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'team', uid: 'n' };
    expect(at([{ ...gone, metadata: { ...gone.metadata, ownerReferences: [namespace] } }])).toEqual(at([]));
    expect(at([page('gone', ['c1'], false)])).toEqual({ a: ['c2'] });
  });

  it('ends with what stays published of a placement that is held', () => {
    const none = {
      ...BALANCE,
      predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { a: 'b' } } } }],
    };
    const start = hub([placement('a', none), placement('b')], [page('a', ['c1'])]);
    const free = completeTransition(options, start);
    expect(selectedOf(free.results)).toEqual({ a: [], b: ['c1'] });
    const held = completeTransition(
      { ...options, outcomeOf: (key, { selected }) => (key === 'team/a' ? ['c1'] : selected) },
      start,
    );
    // What would happen to the held placement is still reported.
    expect(selectedOf(held.results)['a']).toEqual([]);
    expect(held.snapshot.decisions.find(({ metadata }) => metadata.labels?.[PLACEMENT_LABEL] === 'a')).toBe(
      start.decisions[0],
    );
  });

  it('counts what stays published of a held placement, and not what it asks for', () => {
    const start = hub(
      [placement('a', { ...BALANCE, numberOfClusters: 2 }), placement('b')],
      [page('a', ['c1'])],
    );
    const holding: TransitionOptions = {
      ...options,
      outcomeOf: (key, { selected }) => (key === 'team/a' ? ['c1'] : selected),
    };
    const { results, snapshot } = completeTransition(holding, start);
    expect(selectedOf(results)).toEqual({ a: ['c1', 'c2'], b: ['c2'] });
    expect(snapshot.held).toEqual({ 'team/a': ['c1'] });
  });

  it('stops placements that keep changing each other, in the same way each time', () => {
    let calls = 0;
    const start = hub([placement('a'), placement('b')], []);
    const flip = function* (snapshot: Snapshot): ResultGenerator {
      calls += 1;
      const [a, b] = scheduleAll(snapshot) as [ScheduleResult, ScheduleResult];
      yield { ...a, selected: [calls % 2 === 0 ? 'c1' : 'c2'] };
      yield b;
    };
    const {
      unstable: unstable,
      rounds,
      results,
      decidedIn,
    } = completeTransition({ ...options, decide: flip }, start);
    expect([unstable, rounds]).toEqual([['team/a'], 5]);
    expect(results.get('team/a')?.selected).toEqual(['c1']);
    expect(decidedIn.has('team/a')).toBe(true);
  });
});
