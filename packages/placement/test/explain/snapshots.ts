import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { Placement, PlacementSpec } from '@berth/ocm/kind/placement';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';

export const NOW = '2026-03-01T12:00:00Z';

export function cluster(
  name: string,
  labels: Record<string, string> = {},
  more: { taints?: readonly Taint[]; claims?: Record<string, string>; set?: string } = {},
): ManagedCluster {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata: {
      name,
      labels: { 'cluster.open-cluster-management.io/clusterset': more.set ?? 'prod', ...labels },
    },
    spec: { hubAcceptsClient: true, taints: more.taints ?? [] },
    status: {
      clusterClaims: Object.entries(more.claims ?? {}).map(([claim, value]) => ({ name: claim, value })),
    },
  };
}

export function placement(spec: PlacementSpec = {}, name = 'web'): Placement {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'Placement',
    metadata: { name, namespace: 'team' },
    spec,
  };
}

export function clusterSet(name: string): ManagedClusterSet {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1beta2',
    kind: 'ManagedClusterSet',
    metadata: { name },
    spec: { clusterSelector: { selectorType: 'ExclusiveClusterSetLabel' } },
  };
}

export function binding(name: string, namespace = 'team'): ManagedClusterSetBinding {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1beta2',
    kind: 'ManagedClusterSetBinding',
    metadata: { name, namespace },
    spec: { clusterSet: name },
  };
}

export function score(
  clusterName: string,
  values: Record<string, number>,
  name = 'usage',
): AddOnPlacementScore {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1alpha1',
    kind: 'AddOnPlacementScore',
    metadata: { name, namespace: clusterName },
    status: { scores: Object.entries(values).map(([scoreName, value]) => ({ name: scoreName, value })) },
  };
}

/** One placement `team/web`, set `prod` bound to `team`. */
export function snapshot(over: Partial<Snapshot> = {}): Snapshot {
  return {
    now: NOW,
    placements: [placement()],
    clusters: [],
    clusterSets: [clusterSet('prod')],
    bindings: [binding('prod')],
    decisions: [],
    scores: [],
    ...over,
  };
}
