import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { Placement, PlacementSpec } from '@berth/ocm/kind/placement';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { Snapshot } from '../src/snapshot/snapshot.ts';

const API = 'cluster.open-cluster-management.io';
export const NOON = '2026-03-01T12:00:00Z';

export interface ClusterSketch {
  readonly name: string;
  readonly labels?: Record<string, string>;
  readonly claims?: Record<string, string>;
  readonly taints?: readonly Taint[];
  /** Value of its AddOnPlacementScore `load`, score `cpu`. */
  readonly score?: number;
}

export interface SnapshotSketch {
  readonly clusters: readonly ClusterSketch[];
  readonly spec?: PlacementSpec;
  readonly annotations?: Record<string, string>;
  /** Clusters that the placement decided before. */
  readonly before?: readonly string[];
}

/** The rest of a snapshot with nothing but the cluster set `s`, bound in `team`. */
export const ONE_BOUND_SET: Pick<Snapshot, 'clusterSets' | 'bindings' | 'decisions' | 'scores'> = {
  clusterSets: [
    { apiVersion: `${API}/v1beta2`, kind: 'ManagedClusterSet', metadata: { name: 's' }, spec: {} },
  ],
  bindings: [
    {
      apiVersion: `${API}/v1beta2`,
      kind: 'ManagedClusterSetBinding',
      metadata: { name: 's', namespace: 'team' },
    },
  ],
  decisions: [],
  scores: [],
};

/** A snapshot of one placement `team/web` that may use every cluster. */
export function snapshotOf({ clusters, spec = {}, annotations, before = [] }: SnapshotSketch): Snapshot {
  const placement: Placement = {
    apiVersion: `${API}/v1beta1`,
    kind: 'Placement',
    metadata: { name: 'web', namespace: 'team', annotations },
    spec,
  };
  return {
    now: NOON,
    placements: [placement],
    clusters: clusters.map(clusterOf),
    clusterSets: [
      {
        apiVersion: `${API}/v1beta2`,
        kind: 'ManagedClusterSet',
        metadata: { name: 'all' },
        spec: { clusterSelector: { selectorType: 'LabelSelector', labelSelector: {} } },
      },
    ],
    bindings: [
      {
        apiVersion: `${API}/v1beta2`,
        kind: 'ManagedClusterSetBinding',
        metadata: { name: 'all', namespace: 'team' },
      },
    ],
    decisions: [
      {
        apiVersion: `${API}/v1beta1`,
        kind: 'PlacementDecision',
        metadata: { name: 'web-decision-1', namespace: 'team', labels: { [PLACEMENT_LABEL]: 'web' } },
        status: { decisions: before.map((clusterName) => ({ clusterName, reason: '' })) },
      },
    ],
    scores: clusters.flatMap(({ name, score }) =>
      score === undefined
        ? []
        : [
            {
              apiVersion: `${API}/v1alpha1`,
              kind: 'AddOnPlacementScore' as const,
              metadata: { name: 'load', namespace: name },
              status: { scores: [{ name: 'cpu', value: score }] },
            },
          ],
    ),
  };
}

/** Ranks by the sketched scores alone. */
export const BY_SCORE: PlacementSpec['prioritizerPolicy'] = {
  mode: 'Exact',
  configurations: [
    { scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'load', scoreName: 'cpu' } }, weight: 1 },
  ],
};

function clusterOf({ name, labels = {}, claims = {}, taints = [] }: ClusterSketch): ManagedCluster {
  return {
    apiVersion: `${API}/v1`,
    kind: 'ManagedCluster',
    metadata: { name, labels },
    spec: { taints },
    status: { clusterClaims: Object.entries(claims).map(([claim, value]) => ({ name: claim, value })) },
  };
}
