import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ResultGenerator } from '@berth/placement/engine';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { Transitions } from './transition.ts';

/**
 * Large enough that the engine decides incrementally, as for a real fleet, and small enough that
 * the warm-up takes little time.
 */
const FLEET = { clusters: 400, placements: 300, selected: 40 };
const DRAINED = 8;
const SET = 'warm-up';
const NOW = '2026-01-01T00:00:00Z';
const CLUSTER_GROUP = 'cluster.open-cluster-management.io';

/**
 * Warms up the engine. It runs transitions over a synthetic fleet whose clusters are drained one by
 * one, so that V8 has compiled the code before the first real change. The results are dropped.
 * @param decide decides with an engine that nothing else uses
 */
export function* warmUpTransitions(decide: (snapshot: Snapshot) => ResultGenerator): Generator<void> {
  const transitions = new Transitions({ decide, outcomeOf: (_key, { selected }) => selected });
  let snapshot = syntheticFleet();
  for (let drained = 0; drained <= DRAINED; drained++) {
    const { decisions } = (yield* transitions.run(snapshot)).snapshot;
    const clusters = snapshot.clusters.map((cluster, at) => (at === drained ? tainted(cluster) : cluster));
    snapshot = { ...snapshot, decisions, clusters };
  }
}

function syntheticFleet(): Snapshot {
  const meta = (name: string, labels?: Readonly<Record<string, string>>) => ({
    ...{ name, uid: name, resourceVersion: '1', generation: 1, creationTimestamp: NOW },
    ...(labels === undefined ? { namespace: SET } : { labels }),
  });
  const numbered = (prefix: string, count: number): string[] =>
    Array.from({ length: count }, (_, at) => `${prefix}-${1_000 + at}`);
  return {
    now: NOW,
    placements: numbered('p', FLEET.placements).map((name) => ({
      apiVersion: `${CLUSTER_GROUP}/v1beta1`,
      kind: 'Placement',
      metadata: meta(name),
      spec: { clusterSets: [SET], numberOfClusters: FLEET.selected },
    })),
    clusters: numbered('c', FLEET.clusters).map((name) => ({
      apiVersion: `${CLUSTER_GROUP}/v1`,
      kind: 'ManagedCluster',
      metadata: meta(name, { [`${CLUSTER_GROUP}/clusterset`]: SET }),
      spec: { hubAcceptsClient: true },
    })),
    clusterSets: [
      {
        apiVersion: `${CLUSTER_GROUP}/v1beta2`,
        kind: 'ManagedClusterSet',
        metadata: meta(SET, {}),
        spec: { clusterSelector: { selectorType: 'ExclusiveClusterSetLabel' } },
      },
    ],
    bindings: [
      {
        apiVersion: `${CLUSTER_GROUP}/v1beta2`,
        kind: 'ManagedClusterSetBinding',
        metadata: meta(SET),
        spec: { clusterSet: SET },
      },
    ],
    decisions: [],
    scores: [],
  };
}

function tainted(cluster: ManagedCluster): ManagedCluster {
  const taints = [{ key: 'warm-up', effect: 'NoSelect' as const, timeAdded: NOW }];
  return { ...cluster, spec: { ...cluster.spec, taints } };
}
