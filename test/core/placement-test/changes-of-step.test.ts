import { describe, expect, it } from 'vitest';
import { changesOfStep } from '../../../src/core/placement-test/changes-of-step.ts';
import type { GivenStep } from '../../../src/core/placement-test/placement-test.ts';
import { cluster, NOW, score, snapshot } from '../../../packages/placement/test/explain/snapshots.ts';

const SNAPSHOT = snapshot({
  clusters: [cluster('a', { region: 'eu' }), cluster('b', { region: 'us' }), cluster('c', { region: 'eu' })],
  scores: [score('a', { cpu: 1 })],
});
const PLACEMENT = { namespace: 'team', name: 'web' };

const CASES: readonly { name: string; step: GivenStep; want: unknown }[] = [
  {
    name: 'a selector chooses',
    step: { loseClusters: { clusterSelector: { matchLabels: { region: 'eu' } } } },
    want: [
      { kind: 'remove-cluster', cluster: 'a' },
      { kind: 'remove-cluster', cluster: 'c' },
    ],
  },
  {
    name: 'names and selector choose together',
    step: { loseClusters: { clusters: ['a', 'b'], clusterSelector: { matchLabels: { region: 'eu' } } } },
    want: [{ kind: 'remove-cluster', cluster: 'a' }],
  },
  {
    name: 'a taint is as young as the test',
    step: { taint: { clusters: ['b'], key: 'maintenance', effect: 'NoSelect' } },
    want: [
      {
        kind: 'add-taint',
        cluster: 'b',
        taint: { key: 'maintenance', effect: 'NoSelect', timeAdded: NOW },
      },
    ],
  },
  {
    name: 'null removes a label',
    step: { label: { clusters: ['a'], labels: { region: null, tier: 'gold' } } },
    want: [
      { kind: 'remove-label', cluster: 'a', key: 'region' },
      { kind: 'set-label', cluster: 'a', key: 'tier', value: 'gold' },
    ],
  },
  { name: 'time', step: { passTime: '1h30m' }, want: [{ kind: 'pass-time', seconds: 5400 }] },
  {
    name: 'a copy brings its scores',
    step: { addClusters: { like: 'a', names: ['d'] } },
    want: [
      {
        kind: 'add-cluster',
        cluster: expect.objectContaining({ metadata: expect.objectContaining({ name: 'd' }) }),
      },
      { kind: 'set-score', cluster: 'd', resourceName: 'usage', scoreName: 'cpu', value: 1 },
    ],
  },
];

describe('changesOfStep', () => {
  it.each(CASES)('$name', ({ step, want }) => {
    expect(changesOfStep(step, SNAPSHOT, PLACEMENT)).toEqual({ ok: true, changes: want });
  });

  it.each<[GivenStep, string]>([
    [{ loseClusters: { clusters: ['z'] } }, 'there is no cluster z'],
    [
      { loseClusters: { clusterSelector: { matchLabels: { region: 'mars' } } } },
      'clusterSelector matches no cluster',
    ],
    [{ loseClusters: {} }, 'expected clusters or clusterSelector'],
    [{ passTime: 'soon' }, 'passTime: got "soon", expected a duration such as 90s or 1h30m'],
    [{ addClusters: { like: 'z', names: ['d'] } }, 'addClusters: there is no cluster z to copy'],
    [{ addClusters: { like: 'a', names: ['b'] } }, 'addClusters: there is a cluster b already'],
    [{ bindClusterSet: 'nope' }, 'bindClusterSet: there is no ManagedClusterSet nope'],
    [{}, 'the step is empty, expected exactly one field'],
  ])('%j is refused', (step, error) => {
    expect(changesOfStep(step, SNAPSHOT, PLACEMENT)).toEqual({ ok: false, error });
  });
});
