import type { SeriesOwner } from './prometheus-response.ts';
import { type LowestScore, resourceScore, USAGE_SCORES } from './resource-usage-score.ts';

/** A Prometheus query, and the conversion of its value to a score. */
export interface ScoreQuery {
  readonly query: string;
  /** Default: the value is the score, within −100..100, without its fraction. */
  readonly scoreOf?: (value: number) => number;
}

/**
 * Available resources of clusters by the metrics of kube-state-metrics 2: allocatable resources of
 * schedulable nodes minus requests of containers of running pods. These metrics do not contain
 * requests of init containers and pod overhead. Source: kubernetes/kube-state-metrics
 * `docs/metrics/cluster/node-metrics.md`, `docs/metrics/workload/pod-metrics.md`.
 * @param owner the label with the name of the cluster, for several clusters
 */
export function resourceUsageQueries(
  owner: SeriesOwner,
  lowest: LowestScore = -100,
): ReadonlyMap<string, ScoreQuery> {
  return new Map(
    (['cpu', 'memory'] as const).map((resource): [string, ScoreQuery] => [
      USAGE_SCORES[resource],
      { query: availableQuery(resource, owner), scoreOf: (value) => resourceScore(resource, value, lowest) },
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
