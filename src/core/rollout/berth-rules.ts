import { compareUtf8 } from '@berth/runtime/text/utf8-order';
import { type RolloutSize, resolveSize } from './parse-strategy.ts';
import type { RolloutStatus } from './rollout-plan.ts';
import { RolloutWindow } from './rollout-window.ts';
import { isFailure, type PassInput, type PassResult } from './upstream-rules.ts';

/**
 * Clusters one by one in byte order of their names, at most `size` at a time. Unlike upstream, all
 * known clusters are evaluated before any starts, so that a breach is detected independent of the
 * names, and stops every ToApply.
 */
export function berthPassPerCluster(
  input: PassInput,
  limits: { readonly size: number; readonly maxFailures: number },
): PassResult {
  const { window, statuses } = placeKnown(input);
  const breach = [...statuses.values()].filter(isFailure).length > limits.maxFailures;
  if (breach) return { window, breach };
  const toApply = input.groups
    .flatMap((group) => group.clusters.map((cluster) => ({ cluster, group })))
    .filter(({ cluster }) => (statuses.get(cluster) ?? 'ToApply') === 'ToApply')
    .sort((a, b) => compareUtf8(a.cluster, b.cluster));
  for (const { cluster, group } of toApply) {
    if (window.rollout.length >= limits.size) break;
    if (statuses.has(cluster)) window.place({ clusterName: cluster, status: 'ToApply' });
    else window.addNew(cluster, group);
  }
  return { window, breach };
}

/**
 * Group by group. A group is complete when each of its clusters has succeeded for long enough or
 * has failed within the tolerance of its own group; other groups do not matter. `pending`: a group
 * is not complete.
 */
export function berthPassPerGroup(
  input: PassInput,
  maxFailures: RolloutSize,
): PassResult & { readonly pending: boolean } {
  const { window, statuses } = placeKnown(input);
  for (const group of input.groups) {
    const clusters = [...group.clusters].sort(compareUtf8);
    const failures = clusters.filter((cluster) => isFailure(statuses.get(cluster) ?? 'ToApply')).length;
    if (failures > resolveSize(maxFailures, clusters.length, 0))
      return { window, breach: true, pending: true };
    let pending = false;
    for (const cluster of clusters) {
      const status = statuses.get(cluster) ?? 'ToApply';
      if (status === 'ToApply') {
        if (statuses.has(cluster)) window.place({ clusterName: cluster, status });
        else window.addNew(cluster, group);
      }
      pending ||= status === 'ToApply' || isBusy(window, cluster, status);
    }
    if (pending) return { window, breach: false, pending };
  }
  return { window, breach: false, pending: false };
}

/** Places all known clusters except those that wait for a free slot. */
function placeKnown(input: PassInput): {
  readonly window: RolloutWindow;
  readonly statuses: ReadonlyMap<string, RolloutStatus>;
} {
  const window = new RolloutWindow(input.timing);
  const statuses = new Map<string, RolloutStatus>();
  for (const known of [...input.existing].sort((a, b) => compareUtf8(a.clusterName, b.clusterName)))
    statuses.set(known.clusterName, known.status === 'ToApply' ? 'ToApply' : window.place(known));
  return { window, statuses };
}

/** Progressing, or succeeded but not for long enough. A tolerated failure does not block others. */
function isBusy(window: RolloutWindow, cluster: string, status: RolloutStatus): boolean {
  return (
    status === 'Progressing' ||
    (status === 'Succeeded' && window.rollout.some(({ clusterName }) => clusterName === cluster))
  );
}
