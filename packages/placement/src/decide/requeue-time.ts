import type { Instant } from '@berth/kube/model/rfc3339';
import { compareInstants, epochMsOf } from '@berth/kube/model/rfc3339';
import { hasBit } from '../snapshot/bitset.ts';
import type { OwnDecisions } from '../prior/own-decisions.ts';
import type { CompiledPlacement, SchedulingIndex } from '../index/scheduling-index.ts';
import { matchTolerations } from '../filter/taint-rules.ts';

/**
 * The earliest time at which a toleration for a previously selected cluster ends, in milliseconds
 * since the epoch. Undefined if no such toleration ends.
 */
export function requeueAtMs(
  { clusterIndex, now }: SchedulingIndex,
  { tolerations }: CompiledPlacement,
  prior: OwnDecisions,
): number | undefined {
  if (!tolerations.timed) return undefined;
  let first: Instant | undefined;
  for (const cluster of tolerations.timedClusters) {
    if (!hasBit(prior.bits, cluster) || !hasBit(tolerations.passDecided, cluster)) continue;
    for (const taint of clusterIndex.cluster(cluster).spec?.taints ?? []) {
      if (taint.effect === 'PreferNoSelect' || taint.effect === 'NoSelectIfNew') continue;
      const verdict = matchTolerations(taint, tolerations.tolerations, now);
      if (verdict.verdict !== 'tolerated' || verdict.until === undefined) continue;
      if (first === undefined || compareInstants(verdict.until, first) < 0) first = verdict.until;
    }
  }
  return first === undefined ? undefined : epochMsOf(first);
}
