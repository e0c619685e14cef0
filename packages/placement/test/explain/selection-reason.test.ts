import { describe, expect, it } from 'vitest';
import type { Taint } from '@berth/ocm/kind/managed-cluster';
import type { PlacementSpec, Toleration } from '@berth/ocm/kind/placement';
import { selectionReason } from '../../src/explain/text/selection-reason.ts';

const taint = (key: string, over: Partial<Taint> = {}): Taint => ({ key, effect: 'NoSelect', ...over });
const tolerates = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});

interface Case {
  readonly name: string;
  readonly spec?: PlacementSpec;
  readonly unscheduled?: number;
  readonly taints?: readonly Taint[];
  readonly want: string;
}

const CASES: readonly Case[] = [
  { name: 'no number', want: 'every matching cluster is selected' },
  { name: 'one', spec: { numberOfClusters: 1 }, want: 'the best matching cluster' },
  { name: 'some', spec: { numberOfClusters: 3 }, want: 'one of the best 3 matching clusters' },
  {
    name: 'too few',
    spec: { numberOfClusters: 3 },
    unscheduled: 2,
    want: 'matches; fewer clusters match than are wanted',
  },
  {
    name: 'named prioritizers, without those that do not count',
    spec: {
      numberOfClusters: 2,
      prioritizerPolicy: {
        configurations: [
          { scoreCoordinate: { builtIn: 'Steady' }, weight: 0 },
          { scoreCoordinate: { builtIn: 'ResourceAllocatableMemory' } },
          {
            scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'gpu', scoreName: 'free' } },
            weight: 2,
          },
        ],
      },
      spreadPolicy: { spreadConstraints: [{ topologyKey: 'region', topologyKeyType: 'Label' }] },
    },
    want: 'one of the best 2 matching clusters; by ResourceAllocatableMemory, gpu/free; spread over region',
  },
  {
    name: 'only taints that a toleration matches',
    spec: { tolerations: [tolerates('gpu')] },
    taints: [taint('gpu'), taint('drain'), taint('soft', { effect: 'PreferNoSelect' })],
    want: 'every matching cluster is selected; tolerates gpu',
  },
  {
    name: 'a toleration that ends',
    spec: { tolerations: [tolerates('fix', 60), tolerates('fix', 3_600)] },
    taints: [taint('fix', { timeAdded: '2026-01-01T00:00:00Z' })],
    want: 'every matching cluster is selected; tolerates fix until 2026-01-01T01:00:00Z',
  },
  {
    name: 'one that ends beside one that does not',
    spec: { tolerations: [tolerates('fix', 60), tolerates('fix')] },
    taints: [taint('fix', { timeAdded: '2026-01-01T00:00:00Z' })],
    want: 'every matching cluster is selected; tolerates fix',
  },
  {
    name: 'a taint against new clusters only',
    taints: [taint('full', { effect: 'NoSelectIfNew' })],
    want: 'every matching cluster is selected; was here before full',
  },
];

describe('the reason of a selected cluster', () => {
  const reasonOf = ({ spec, unscheduled = 0, taints = [] }: Omit<Case, 'name' | 'want'>): string => {
    const placement = { apiVersion: 'v1beta1', kind: 'Placement', metadata: { name: 'web' }, spec } as const;
    return selectionReason({ placement, unscheduled })(taints);
  };

  it.each(CASES)('$name', ({ want, ...given }) => {
    expect(reasonOf(given)).toBe(want);
  });

  it('has at most 120 characters', () => {
    const keys = Array.from({ length: 20 }, (_, at) => `example.com/taint-${at}`);
    const long = reasonOf({
      spec: { tolerations: keys.map((key) => tolerates(key)) },
      taints: keys.map((key) => taint(key)),
    });
    expect(long).toHaveLength(120);
    expect(long).toMatch(/^every matching cluster is selected; tolerates example.com\/taint-0; .*…$/);
  });
});
