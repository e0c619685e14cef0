import type { AvailableResources } from './available-resources.ts';
import type { SeriesOwner } from './prometheus-response.ts';

/** Available CPUs and bytes of memory from which on the score is 100. */
const FULL_SCORE: AvailableResources = { cpu: 100, memory: 1024 ** 4 };

/** The names of the scores, as in OCM's add-on. */
const USAGE_SCORES = { cpu: 'cpuAvailable', memory: 'memAvailable' } as const;

/**
 * From which score on they go when anything is left: −100 as in OCM's add-on, or 0 as in its article
 * on scores (`score = x / max * 100`).
 */
export type LowestScore = -100 | 0;

/**
 * Scores of available CPU and memory: −100 for none, 100 for 100 CPUs or 1 TiB. Source:
 * open-cluster-management-io/addon-contrib
 * `resource-usage-collect-addon/pkg/addon/agent/calculate.go`. Unlike there, completed pods do not
 * count, and an init container counts for its own pod instead of the cluster.
 */
export function resourceUsageScores(
  { cpu, memory }: AvailableResources,
  lowest: LowestScore = -100,
): readonly { readonly name: string; readonly value: number }[] {
  return [
    { name: USAGE_SCORES.cpu, value: resourceScore('cpu', cpu, lowest) },
    { name: USAGE_SCORES.memory, value: resourceScore('memory', memory, lowest) },
  ];
}

/** @param available CPUs, or bytes of memory */
function resourceScore(resource: keyof AvailableResources, available: number, lowest: LowestScore): number {
  const full = FULL_SCORE[resource];
  if (available >= full) return 100;
  if (available <= 0) return -100;
  // As Go converts to an integer: towards zero. Without a negative zero.
  return Math.trunc(((100 - lowest) * available) / full + lowest) + 0;
}

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
