import type { RolloutStrategy } from '@berth/ocm/kind/manifest-work-replica-set';
import { parseRolloutStrategy } from '../../rollout/parse-strategy.ts';
import { planRollout } from '../../rollout/plan-rollout.ts';
import type { ClusterRolloutStatus, RolloutGroup } from '../../rollout/rollout-plan.ts';
import type { RolloutForecast, RolloutWave } from './plan-effects.ts';

export interface ForecastInput {
  readonly strategy: RolloutStrategy;
  /** Every cluster of the placement after the change. */
  readonly groups: readonly RolloutGroup[];
  /** Clusters that have the content already. */
  readonly done: ReadonlySet<string>;
}

type Forecast = Pick<RolloutForecast, 'strategy' | 'waves' | 'moreWaves' | 'shortestMs' | 'problem'>;

/** Each wave examines every cluster. For a huge rollout with small waves only the first waves are computed. */
const MAX_EXAMINED_CLUSTERS = 200_000;
const MAX_WAVES = 200;

/**
 * The waves in which the clusters get new content, if each cluster succeeds at once. Uses the rules of the rollout,
 * with the clock advanced to the time when the last wave has succeeded for the required time.
 */
export function forecastRollout({ strategy, groups, done }: ForecastInput): Forecast {
  const parsed = parseRolloutStrategy(strategy);
  if (!parsed.ok) return { strategy: 'All', waves: [], moreWaves: 0, shortestMs: 0, problem: parsed.error };
  const { type } = parsed.value;
  const soakMs = parsed.value.type === 'All' ? 0 : parsed.value.soakMs;
  const known = groups.flatMap(({ clusters }) => clusters).filter((cluster) => done.has(cluster));
  // These clusters succeeded long ago, so they do not count toward the concurrency limit.
  const existing: ClusterRolloutStatus[] = known.map((clusterName) => ({
    clusterName,
    status: 'Succeeded',
    lastTransitionMs: -soakMs,
  }));
  const waves: RolloutWave[] = [];
  const all = groups.flatMap(({ clusters }) => clusters).length;
  const maxWaves = Math.max(1, Math.min(MAX_WAVES, Math.floor(MAX_EXAMINED_CLUSTERS / Math.max(1, all))));
  let nowMs = 0;
  while (waves.length < maxWaves) {
    const plan = planRollout({ strategy, groups, existing, nowMs });
    if (!plan.ok) return { strategy: type, waves, moreWaves: 0, shortestMs: nowMs, problem: plan.error };
    const due = plan.value.rollout.filter(({ status }) => status === 'ToApply');
    const clusters = due.map(({ clusterName }) => clusterName);
    if (clusters.length === 0) break;
    waves.push({ clusters, startsAfterMs: nowMs });
    for (const clusterName of clusters)
      existing.push({ clusterName, status: 'Succeeded', lastTransitionMs: nowMs });
    nowMs += soakMs;
  }
  const left = Math.max(0, all - existing.length);
  const moreWaves = Math.ceil(left / Math.max(1, waves.at(-1)?.clusters.length ?? 1));
  return { strategy: type, waves, moreWaves, shortestMs: nowMs + moreWaves * soakMs };
}
