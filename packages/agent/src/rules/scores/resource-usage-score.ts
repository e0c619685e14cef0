import type { AvailableResources } from './available-resources.ts';

/** Available CPUs and bytes of memory from which on the score is 100. */
const FULL_SCORE: AvailableResources = { cpu: 100, memory: 1024 ** 4 };

/** The names of the scores, as in OCM's add-on. */
export const USAGE_SCORES = { cpu: 'cpuAvailable', memory: 'memAvailable' } as const;

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
export function resourceScore(
  resource: keyof AvailableResources,
  available: number,
  lowest: LowestScore,
): number {
  const full = FULL_SCORE[resource];
  if (available >= full) return 100;
  if (available <= 0) return -100;
  // As Go converts to an integer: towards zero. Without a negative zero.
  return Math.trunc(((100 - lowest) * available) / full + lowest) + 0;
}
