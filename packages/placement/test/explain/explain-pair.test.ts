import { describe, expect, it } from 'vitest';
import { applySnapshotChanges } from '../../src/explain/snapshot/apply-snapshot-change.ts';
import { decideFirstPlacement, decideInSnapshot } from '../../src/explain/verdict/decide-in-snapshot.ts';
import { describePair, describeSuggestion } from '../../src/explain/text/describe-pair.ts';
import { explainPair } from '../../src/explain/explain-pair.ts';
import type { Taint } from '@berth/ocm/kind/managed-cluster';
import type { PlacementSpec } from '@berth/ocm/kind/placement';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { binding, cluster, clusterSet, placement, score, snapshot } from './snapshots.ts';

const TAINT: Taint = { key: 'maintenance', effect: 'NoSelect', timeAdded: '2026-03-01T11:30:00Z' };
const GOLD: PlacementSpec = {
  predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { tier: 'gold' } } } }],
};
/** Two scores of the same AddOnPlacementScore. */
const BY_CPU_AND_MEMORY: PlacementSpec = {
  numberOfClusters: 1,
  prioritizerPolicy: {
    mode: 'Exact',
    configurations: ['cpu', 'memory'].map((scoreName) => ({
      scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'usage', scoreName } },
      weight: 1,
    })),
  },
};
const BY_CPU: PlacementSpec = {
  numberOfClusters: 1,
  prioritizerPolicy: {
    mode: 'Exact',
    configurations: [
      {
        scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'usage', scoreName: 'cpu' } },
        weight: 2,
      },
    ],
  },
};

function explain(given: Snapshot, name: string) {
  const decision = decideInSnapshot(given, { namespace: 'team', name: 'web' });
  if (decision === undefined) throw new Error('no placement');
  return explainPair({ ...decision, cluster: name });
}

interface Case {
  readonly name: string;
  readonly given: Snapshot;
  readonly verdict: object;
  /** Lines under the first. */
  readonly text: readonly string[];
  readonly suggestions: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'a label is missing',
    given: snapshot({ placements: [placement(GOLD)], clusters: [cluster('c', { tier: 'silver' })] }),
    verdict: {
      kind: 'predicate',
      predicates: [
        {
          predicate: 0,
          failures: [{ part: 'label', key: 'tier', operator: 'In', values: ['gold'], actual: 'silver' }],
        },
      ],
    },
    text: ['label tier is "silver", wanted "gold"'],
    suggestions: [
      'set label tier=gold on cluster c',
      'drop the requirement on label tier from predicate 1 of placement team/web',
    ],
  },
  {
    name: 'any of several values would do, in either predicate',
    given: snapshot({
      placements: [
        placement({
          predicates: [
            {
              requiredClusterSelector: {
                labelSelector: {
                  matchExpressions: [{ key: 'tier', operator: 'In', values: ['gold', 'platinum'] }],
                },
              },
            },
            {
              requiredClusterSelector: {
                claimSelector: { matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] },
              },
            },
          ],
        }),
      ],
      clusters: [cluster('c', {}, { claims: { zone: 'a' } })],
    }),
    verdict: { kind: 'predicate' },
    text: [
      'predicate 1: label tier is not set, wanted one of "gold", "platinum"',
      'predicate 2: claim zone is "a", wanted none',
    ],
    suggestions: [
      'set label tier=gold on cluster c',
      'set label tier=platinum on cluster c',
      'drop the requirement on label tier from predicate 1 of placement team/web',
      'have cluster c no longer claim zone',
      'drop the requirement on claim zone from predicate 2 of placement team/web',
    ],
  },
  {
    name: 'CEL without an answer',
    given: snapshot({
      placements: [
        placement({
          predicates: [
            {
              requiredClusterSelector: {
                celSelector: { celExpressions: ['managedCluster.metadata.labels.tier == "gold"'] },
              },
            },
          ],
        }),
      ],
      clusters: [cluster('c')],
    }),
    verdict: { kind: 'predicate' },
    text: ['CEL gave no result: managedCluster.metadata.labels.tier == "gold" (no such key: tier)'],
    suggestions: [
      'drop the CEL expression managedCluster.metadata.labels.tier == "gold" from predicate 1 of placement team/web',
    ],
  },
  {
    name: 'tainted',
    given: snapshot({ clusters: [cluster('c', {}, { taints: [TAINT] })] }),
    verdict: { kind: 'tainted', taints: [{ taint: TAINT, verdict: 'refused', ageSeconds: 1800 }] },
    text: ['taint maintenance:NoSelect, there for 30m: is not tolerated'],
    suggestions: [
      'remove taint maintenance:NoSelect from cluster c',
      'let placement team/web tolerate maintenance:NoSelect',
    ],
  },
  {
    name: 'a toleration ran out',
    given: snapshot({
      placements: [
        placement({ tolerations: [{ key: 'maintenance', operator: 'Exists', tolerationSeconds: 600 }] }),
      ],
      clusters: [cluster('c', {}, { taints: [TAINT] })],
    }),
    verdict: { kind: 'tainted', taints: [{ verdict: 'expired', until: '2026-03-01T11:40:00Z' }] },
    text: [
      'taint maintenance:NoSelect, there for 30m: was tolerated, but not any more, by the toleration of maintenance for 600 s until 2026-03-01T11:40:00Z',
    ],
    suggestions: [
      'remove taint maintenance:NoSelect from cluster c',
      'let placement team/web tolerate maintenance:NoSelect',
    ],
  },
  {
    name: 'two taints need two changes',
    given: snapshot({
      clusters: [cluster('c', {}, { taints: [TAINT, { key: 'gpu', value: 'a', effect: 'NoSelectIfNew' }] })],
    }),
    verdict: { kind: 'tainted' },
    text: [
      'taint maintenance:NoSelect, there for 30m: is not tolerated',
      'taint gpu=a:NoSelectIfNew: is not tolerated',
    ],
    suggestions: [
      'remove taint maintenance:NoSelect from cluster c, and remove taint gpu:NoSelectIfNew from cluster c',
      'let placement team/web tolerate maintenance:NoSelect, and let placement team/web tolerate gpu:NoSelectIfNew',
    ],
  },
  {
    name: 'in a set that is not bound',
    given: snapshot({
      clusterSets: [clusterSet('prod'), clusterSet('dev')],
      clusters: [cluster('c', {}, { set: 'dev' })],
    }),
    verdict: {
      kind: 'not-in-eligible-set',
      memberOf: ['dev'],
      bound: ['prod'],
      wanted: [],
      eligible: ['prod'],
    },
    text: [
      'the cluster is in no cluster set that counts for this placement',
      'sets of the cluster:           dev',
      'sets bound to the namespace:   prod',
      'spec.clusterSets:              not set (every bound set counts)',
      'sets that count:               prod',
    ],
    suggestions: [
      'set label cluster.open-cluster-management.io/clusterset=prod on cluster c',
      'bind cluster set dev to namespace team',
    ],
  },
  {
    name: 'in a bound set that the placement does not want',
    given: snapshot({
      placements: [placement({ clusterSets: ['prod'] })],
      clusterSets: [clusterSet('prod'), clusterSet('dev')],
      bindings: [binding('prod'), binding('dev')],
      clusters: [cluster('c', {}, { set: 'dev' })],
    }),
    verdict: {
      kind: 'not-in-eligible-set',
      memberOf: ['dev'],
      bound: ['dev', 'prod'],
      wanted: ['prod'],
      eligible: ['prod'],
    },
    text: [
      'the cluster is in no cluster set that counts for this placement',
      'sets of the cluster:           dev',
      'sets bound to the namespace:   dev, prod',
      'spec.clusterSets:              prod',
      'sets that count:               prod',
    ],
    suggestions: [
      'set label cluster.open-cluster-management.io/clusterset=prod on cluster c',
      'add cluster set dev to spec.clusterSets of placement team/web',
    ],
  },
  {
    name: 'outranked by score',
    given: snapshot({
      placements: [placement(BY_CPU)],
      clusters: [cluster('b'), cluster('c')],
      scores: [score('b', { cpu: 50 }), score('c', { cpu: 20 })],
    }),
    verdict: {
      kind: 'outranked',
      numberOfClusters: 1,
      lastSelected: { cluster: 'b', total: 100 },
      score: { rank: 2, of: 2, total: 40 },
    },
    text: [
      'outranked: 40 points, the last of the 1 selected, b, has 100 points',
      'rank 2 of 2 with 40 points',
      '  AddOn/usage/cpu  20  × 2  = 40',
    ],
    suggestions: [
      'set numberOfClusters of placement team/web to 2',
      'have cluster c score cpu=51 in AddOnPlacementScore usage; that would evict b',
    ],
  },
  {
    name: 'an equal score is enough for the earlier name',
    given: snapshot({
      placements: [placement(BY_CPU)],
      clusters: [cluster('c'), cluster('d')],
      scores: [score('d', { cpu: 50 }), score('c', { cpu: 20 })],
    }),
    verdict: { kind: 'outranked' },
    text: [
      'outranked: 40 points, the last of the 1 selected, d, has 100 points',
      'rank 2 of 2 with 40 points',
      '  AddOn/usage/cpu  20  × 2  = 40',
    ],
    suggestions: [
      'set numberOfClusters of placement team/web to 2',
      'have cluster c score cpu=50 in AddOnPlacementScore usage; that would evict d',
    ],
  },
  {
    name: 'a higher score of an object keeps its other scores',
    given: snapshot({
      placements: [placement(BY_CPU_AND_MEMORY)],
      clusters: [cluster('b'), cluster('c')],
      scores: [score('b', { cpu: 50, memory: 60 }), score('c', { cpu: 20, memory: 70 })],
    }),
    verdict: { kind: 'outranked', score: { rank: 2, of: 2, total: 90 } },
    text: [
      'outranked: 90 points, the last of the 1 selected, b, has 110 points',
      'rank 2 of 2 with 90 points',
      '  AddOn/usage/cpu     20  × 1  = 20',
      '  AddOn/usage/memory  70  × 1  = 70',
    ],
    suggestions: [
      'set numberOfClusters of placement team/web to 2',
      'have cluster c score cpu=41 in AddOnPlacementScore usage; that would evict b',
      'have cluster c score memory=91 in AddOnPlacementScore usage; that would evict b',
    ],
  },
  {
    name: 'a label and more places are needed together',
    given: snapshot({
      placements: [placement({ ...GOLD, numberOfClusters: 1 })],
      clusters: [cluster('a', { tier: 'gold' }), cluster('c', { tier: 'silver' })],
    }),
    verdict: { kind: 'predicate' },
    text: ['label tier is "silver", wanted "gold"'],
    suggestions: [
      'set label tier=gold on cluster c, and set numberOfClusters of placement team/web to 2',
      'drop the requirement on label tier from predicate 1 of placement team/web, and set numberOfClusters of placement team/web to 2',
    ],
  },
  {
    name: 'numberOfClusters is 0',
    given: snapshot({ placements: [placement({ numberOfClusters: 0 })], clusters: [cluster('c')] }),
    verdict: { kind: 'outranked', numberOfClusters: 0, lastSelected: undefined },
    text: [
      'outranked: 100 points, numberOfClusters is 0',
      'rank 1 of 1 with 100 points',
      '  Balance  100  × 1  = 100',
      '  Steady   0    × 1  = 0',
    ],
    suggestions: ['set numberOfClusters of placement team/web to 1'],
  },
  {
    name: 'scheduling is disabled',
    given: snapshot({
      placements: [
        {
          ...placement(),
          metadata: {
            name: 'web',
            namespace: 'team',
            annotations: { 'cluster.open-cluster-management.io/experimental-scheduling-disable': 'true' },
          },
        },
      ],
      clusters: [cluster('c')],
    }),
    verdict: { kind: 'skipped', why: 'scheduling-disabled' },
    text: ['scheduling of the placement is disabled by its annotation'],
    suggestions: ['remove the annotation that disables scheduling from placement team/web'],
  },
  {
    name: 'misconfigured',
    given: snapshot({
      placements: [
        placement({
          predicates: [{ requiredClusterSelector: { celSelector: { celExpressions: ['nope'] } } }],
        }),
      ],
      clusters: [cluster('c')],
    }),
    verdict: { kind: 'misconfigured', plugin: 'Predicate' },
    text: [
      'the placement is misconfigured, so nothing is selected:',
      "  Predicate: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')",
      '   | nope',
      '   | ^',
    ],
    suggestions: [],
  },
];

describe('explainPair', () => {
  it.each(CASES)('$name', ({ given, verdict, text, suggestions }) => {
    const pair = explain(given, 'c');
    expect(pair.selected).toBe(false);
    expect(pair.verdict).toMatchObject(verdict);
    const lines = describePair(pair);
    expect(lines[0]).toBe('Placement team/web on cluster c: not selected');
    expect(lines.slice(1, 1 + text.length)).toEqual(text.map((line) => `  ${line}`));
    expect(pair.suggestions.map(describeSuggestion)).toEqual(suggestions);
  });

  it.each(CASES.filter(({ suggestions }) => suggestions.length > 0))(
    '$name: each suggestion works',
    ({ given }) => {
      const pair = explain(given, 'c');
      const before = decideFirstPlacement(given)?.result.selected ?? [];
      for (const { changes, evicts } of pair.suggestions) {
        const after = decideFirstPlacement(applySnapshotChanges(given, changes))?.result.selected ?? [];
        expect(after).toContain('c');
        expect(evicts).toEqual(before.filter((name) => !after.includes(name)));
      }
    },
  );

  it('says for a selected cluster why, and which taints it lives with', () => {
    const given = snapshot({
      placements: [
        placement({ tolerations: [{ key: 'maintenance', operator: 'Exists', tolerationSeconds: 3600 }] }),
      ],
      clusters: [cluster('c', {}, { taints: [TAINT] })],
    });
    expect(describePair(explain(given, 'c'))).toEqual([
      'Placement team/web on cluster c: selected',
      '  rank 1 of 1 with 100 points',
      '    Balance  100  × 1  = 100',
      '    Steady   0    × 1  = 0',
      '  taint maintenance:NoSelect, there for 30m: is tolerated, by the toleration of maintenance for 3600 s until 2026-03-01T12:30:00Z',
    ]);
  });
});

describe('under spread constraints', () => {
  const SPREAD: PlacementSpec = {
    ...BY_CPU,
    numberOfClusters: 2,
    spreadPolicy: {
      spreadConstraints: [
        { topologyKey: 'region', topologyKeyType: 'Label', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
      ],
    },
  };
  const given = snapshot({
    placements: [placement(SPREAD)],
    clusters: [
      cluster('a', { region: 'eu' }),
      cluster('b', { region: 'eu' }),
      cluster('c', { region: 'us' }),
      cluster('d', {}),
    ],
    scores: [
      score('a', { cpu: 90 }),
      score('b', { cpu: 80 }),
      score('c', { cpu: 10 }),
      score('d', { cpu: 95 }),
    ],
  });

  it('names the constraint that skipped a better cluster', () => {
    expect(decideFirstPlacement(given)?.result.selected).toEqual(['a', 'c']);
    const pair = explain(given, 'b');
    expect(pair.verdict).toMatchObject({ kind: 'spread', constraint: { topologyKey: 'region' } });
    expect(describePair(pair)[1]).toBe(
      '  selecting it would put more than maxSkew 1 between the values of label region',
    );
  });

  it.each(['b', 'd'])('suggests what selects %s after all', (name) => {
    const { suggestions } = explain(given, name);
    expect(suggestions.length).toBeGreaterThan(0);
    for (const { changes, evicts } of suggestions) {
      const after = decideFirstPlacement(applySnapshotChanges(given, changes))?.result.selected ?? [];
      expect(after).toContain(name);
      expect(evicts).toEqual(['a', 'c'].filter((other) => !after.includes(other)));
    }
  });
});
