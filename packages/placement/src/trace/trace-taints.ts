import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { Toleration } from '@berth/ocm/kind/placement';
import type { Instant } from '@berth/kube/model/rfc3339';
import { epochMsOf } from '@berth/kube/model/rfc3339';
import { judgeTaint } from '../filter/toleration-class.ts';

export interface TraceTaint {
  readonly taint: Taint;
  /** `expired`: a toleration matches this taint but ended at `untilMs`. */
  readonly verdict: 'tolerated' | 'prefer-only' | 'already-decided' | 'refused' | 'expired';
  readonly toleration?: Toleration | undefined;
  readonly untilMs?: number | undefined;
}

export function taintVerdicts(
  cluster: ManagedCluster,
  tolerations: readonly Toleration[],
  at: { readonly now: Instant; readonly decided: boolean },
): readonly TraceTaint[] {
  return (cluster.spec?.taints ?? []).map((taint): TraceTaint => {
    const judged = judgeTaint(taint, tolerations, at);
    if (judged.verdict !== 'tolerated' && judged.verdict !== 'expired')
      return { taint, verdict: judged.verdict };
    const { verdict, toleration, until } = judged;
    return { taint, verdict, toleration, untilMs: until === undefined ? undefined : epochMsOf(until) };
  });
}
