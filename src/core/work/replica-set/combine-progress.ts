import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { RolloutRules, RolloutStatus } from '../../rollout/rollout-plan.ts';
import { type WorkProgress, workProgress } from './work-rollout-status.ts';

/** By precedence: the first of these that a work has is the status of the cluster. */
const RANK: readonly RolloutStatus[] = ['ToApply', 'Failed', 'TimeOut', 'Progressing', 'Succeeded', 'Skip'];

/** Progress of a cluster whose manifests are spread over several works: the worst of them, since the latest change. */
export function combineProgress(works: readonly ManifestWork[], rules: RolloutRules): WorkProgress {
  const all = works.map((work) => workProgress(work, rules));
  const worst = all.reduce((a, b) => (RANK.indexOf(b.status) < RANK.indexOf(a.status) ? b : a));
  if (all.length === 1) return worst;
  const equal = all.filter(({ status }) => status === worst.status);
  const times = equal.flatMap(({ lastTransitionMs }) => lastTransitionMs ?? []);
  const lastTransitionMs = times.length === 0 ? undefined : Math.max(...times);
  // One confirmed failure is enough.
  const unconfirmedUntilMs = Math.min(...equal.map((one) => one.unconfirmedUntilMs ?? 0));
  return { ...worst, lastTransitionMs, unconfirmedUntilMs };
}
