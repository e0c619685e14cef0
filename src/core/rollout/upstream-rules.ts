import { compareUtf8 } from '@berth/runtime/text/utf8-order';
import { type RolloutSize, resolveSize } from './parse-strategy.ts';
import type { ClusterRolloutStatus, RolloutGroup, RolloutStatus } from './rollout-plan.ts';
import { type RolloutTiming, RolloutWindow } from './rollout-window.ts';

/** The result of one pass of OCM's helper, including its bugs. `breach`: more failures than allowed. */
export interface PassResult {
  readonly window: RolloutWindow;
  readonly breach: boolean;
}

export interface PassInput {
  readonly groups: readonly RolloutGroup[];
  /** Clusters of any group, the pass's own or not. */
  readonly existing: readonly ClusterRolloutStatus[];
  readonly timing: RolloutTiming;
}

/** Clusters one by one in byte order of their names, at most `size` at a time, over all groups. */
export function upstreamPassPerCluster(
  input: PassInput,
  limits: { readonly size: number; readonly maxFailures: number },
): PassResult {
  const window = new RolloutWindow(input.timing);
  const seen = new Set<string>();
  let failures = 0;
  let breach = false;
  for (const known of [...input.existing].sort((a, b) => compareUtf8(a.clusterName, b.clusterName))) {
    seen.add(known.clusterName);
    const status = breach && known.status === 'ToApply' ? known.status : window.place(known);
    if (isFailure(status)) {
      failures += 1;
      breach = failures > limits.maxFailures;
    }
    if (window.rollout.length >= limits.size) return { window, breach };
  }
  if (breach) return { window, breach };
  const fresh = input.groups
    .flatMap((group) => group.clusters.map((cluster) => ({ cluster, group })))
    .filter(({ cluster }) => !seen.has(cluster))
    .sort((a, b) => compareUtf8(a.cluster, b.cluster));
  for (const { cluster, group } of fresh) {
    window.addNew(cluster, group);
    if (window.rollout.length >= limits.size) break;
  }
  return { window, breach: false };
}

/** Group after group. The next one starts when the window contains only failures that count. */
export function upstreamPassPerGroup(input: PassInput, maxFailures: RolloutSize): PassResult {
  const window = new RolloutWindow(input.timing);
  const known = new Map<string, RolloutStatus>();
  const waiting = new Set<string>();
  for (const cluster of input.existing)
    if (cluster.status === 'ToApply') waiting.add(cluster.clusterName);
    else known.set(cluster.clusterName, window.place(cluster));
  let totalFailures = 0;
  for (const group of input.groups) {
    const limit = resolveSize(maxFailures, group.clusters.length, 0);
    let failures = 0;
    let breach = false;
    for (const cluster of [...group.clusters].sort(compareUtf8)) {
      const status = known.get(cluster);
      if (status === undefined && waiting.has(cluster))
        window.place({ clusterName: cluster, status: 'ToApply' });
      else if (status === undefined) window.addNew(cluster, group);
      else if (isFailure(status)) {
        failures += 1;
        breach = failures > limit;
      }
    }
    totalFailures += failures;
    if (window.rollout.length - totalFailures > 0 || breach) return { window, breach };
  }
  return { window, breach: false };
}

export function isFailure(status: RolloutStatus): boolean {
  return status === 'TimeOut' || status === 'Failed';
}
