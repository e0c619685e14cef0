import { describe, expect, it } from 'vitest';
import { placementHints } from '../../src/explain/placement-hints.ts';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';

const GROUP = 'cluster.open-cluster-management.io';

const SNAPSHOT: Snapshot = {
  now: '2026-03-01T12:00:00Z',
  placements: [],
  clusters: [],
  clusterSets: ['prod', 'edge'].map((name) => ({
    apiVersion: `${GROUP}/v1beta2`,
    kind: 'ManagedClusterSet',
    metadata: { name },
    spec: {},
  })),
  bindings: [
    {
      apiVersion: `${GROUP}/v1beta2`,
      kind: 'ManagedClusterSetBinding',
      metadata: { name: 'prod', namespace: 'team' },
    },
  ],
  decisions: [],
  scores: [
    {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: 'AddOnPlacementScore',
      metadata: { name: 'usage', namespace: 'c1' },
      status: { scores: [{ name: 'cpuAvailable', value: 1 }] },
    },
  ],
};

const addOn = (resourceName: string, scoreName: string) => ({
  prioritizerPolicy: {
    configurations: [{ scoreCoordinate: { type: 'AddOn', addOn: { resourceName, scoreName } }, weight: 1 }],
  },
});
const builtIn = (name: string) => ({
  prioritizerPolicy: { configurations: [{ scoreCoordinate: { type: 'BuiltIn', builtIn: name }, weight: 1 }] },
});

describe('placementHints', () => {
  it.each<[Placement['spec'], string[]]>([
    [{}, []],
    [{ clusterSets: ['prod'] }, []],
    [{ clusterSets: ['prdo'] }, ['there is no ManagedClusterSet prdo, did you mean prod?']],
    [{ clusterSets: ['something-else'] }, ['there is no ManagedClusterSet something-else']],
    [
      { clusterSets: ['edge'] },
      [
        'ManagedClusterSet edge is not bound to namespace team: it takes a ManagedClusterSetBinding edge there',
      ],
    ],
    [
      { prioritizerPolicy: { mode: 'Exakt' } },
      ['prioritizerPolicy.mode is Additive or Exact, not Exakt, did you mean Exact?'],
    ],
    [
      builtIn('Ballance'),
      [
        'there is no built-in prioritizer Ballance but Balance, Steady, ResourceAllocatableCPU, ResourceAllocatableMemory, did you mean Balance?',
      ],
    ],
    [builtIn('Steady'), []],
    [addOn('usage', 'cpuAvailable'), []],
    [addOn('usge', 'cpuAvailable'), ['no cluster has an AddOnPlacementScore usge, did you mean usage?']],
    [
      addOn('usage', 'cpuAvailible'),
      ['no AddOnPlacementScore usage holds a score cpuAvailible, did you mean cpuAvailable?'],
    ],
    [
      {
        predicates: [
          {
            requiredClusterSelector: {
              labelSelector: { matchExpressions: [{ key: 'tier', operator: 'Notin', values: ['a'] }] },
            },
          },
        ],
      },
      ['key tier: Notin is no operator, did you mean NotIn?'],
    ],
  ])('%j', (spec, want) => {
    const placement = {
      apiVersion: `${GROUP}/v1beta1`,
      kind: 'Placement',
      metadata: { name: 'p', namespace: 'team' },
      spec,
    };
    expect(placementHints(SNAPSHOT, placement as Placement)).toEqual(want);
  });
});
