import type { SeriesOwner } from './prometheus-answer.ts';
import { resourceScore, USAGE_SCORES } from './resource-usage-score.ts';

/** A query of Prometheus, and the score that a value of its answer makes. */
export interface ScoreQuery {
  readonly query: string;
  /** Default: the value is the score, within −100..100, without its fraction. */
  readonly scoreOf?: (value: number) => number;
}

/**
 * What clusters have left by the metrics of kube-state-metrics 2: allocatable of the nodes that take pods, less what the containers of
 * pods request that have not ended. Requests of init containers and the overhead of pods are not among these metrics.
 * Source: kubernetes/kube-state-metrics `docs/metrics/cluster/node-metrics.md`, `docs/metrics/workload/pod-metrics.md`.
 * @param owner the label of every series that names the cluster, where there are many
 */
export function resourceUsageQueries(owner: SeriesOwner): ReadonlyMap<string, ScoreQuery> {
  return new Map(
    (['cpu', 'memory'] as const).map((resource): [string, ScoreQuery] => [
      USAGE_SCORES[resource],
      { query: availableQuery(resource, owner), scoreOf: (value) => resourceScore(resource, value) },
    ]),
  );
}

function availableQuery(resource: string, owner: SeriesOwner): string {
  const labels = owner.kind === 'label' ? [owner.label] : [];
  const by = (...names: readonly string[]): string => `(${[...labels, ...names].join(', ')})`;
  const allocatable = `sum by ${by()} (kube_node_status_allocatable{resource="${resource}"} unless on ${by('node')} (kube_node_spec_unschedulable == 1))`;
  const active = `max by ${by('namespace', 'pod')} (kube_pod_status_phase{phase=~"Pending|Running|Unknown"} == 1)`;
  const requested = `sum by ${by()} (kube_pod_container_resource_requests{resource="${resource}"} * on ${by('namespace', 'pod')} group_left () ${active})`;
  // A cluster without requests has no series of them.
  return `${allocatable} - (${requested} or 0 * ${allocatable})`;
}
