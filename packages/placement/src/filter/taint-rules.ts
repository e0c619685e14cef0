import type { Taint } from '@berth/ocm/kind/managed-cluster';
import type { Toleration } from '@berth/ocm/kind/placement';
import type { Instant } from '@berth/kube/model/rfc3339';
import { addSeconds, compareInstants, parseRfc3339 } from '@berth/kube/model/rfc3339';

/** The zero time of Go. An absent `timeAdded` counts as this time. */
const ZERO_TIME: Instant = { seconds: -62_135_596_800, nanos: 0 };

/** The error of an invalid toleration, with the text of OCM; undefined if it is valid. */
export function tolerationProblem(toleration: Toleration): string | undefined {
  const { key = '', operator = '', value = '' } = toleration;
  if (key === '' && operator !== 'Exists') return 'If the key is empty, operator must be Exists.';
  if (operator === 'Exists' && value !== '') return 'If the operator is Exists, the value should be empty.';
  return undefined;
}

/** Whether the toleration matches this taint. Its time limit is ignored. */
export function toleratesTaint(toleration: Toleration, taint: Taint): boolean {
  const { effect = '', key = '', operator = '', value = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '');
}

/** The time at which a toleration stops tolerating a taint; undefined if it never does. */
export function tolerationEnd(toleration: Toleration, taint: Taint): Instant | undefined {
  if (toleration.tolerationSeconds === undefined) return undefined;
  const added = parseRfc3339(taint.timeAdded ?? '') ?? ZERO_TIME;
  return addSeconds(added, toleration.tolerationSeconds);
}

/** What one taint means for one placement at one time. */
export type TaintVerdict =
  | { readonly verdict: 'prefer-only' | 'already-decided' | 'refused' }
  /** A toleration matches, but it ended at `until`. */
  | { readonly verdict: 'expired'; readonly toleration: Toleration; readonly until: Instant }
  | { readonly verdict: 'tolerated'; readonly toleration: Toleration; readonly until: Instant | undefined };

/**
 * Judges one taint. The first matching toleration that has not ended counts. PreferNoSelect never
 * refuses a cluster.
 */
export function judgeTaint(
  taint: Taint,
  tolerations: readonly Toleration[],
  at: { readonly now: Instant; readonly decided: boolean },
): TaintVerdict {
  if (taint.effect === 'PreferNoSelect') return { verdict: 'prefer-only' };
  if (taint.effect === 'NoSelectIfNew' && at.decided) return { verdict: 'already-decided' };
  return matchTolerations(taint, tolerations, at.now);
}

/** Judges a taint only by the tolerations. Its effect is ignored. */
export function matchTolerations(
  taint: Taint,
  tolerations: readonly Toleration[],
  now: Instant,
): TaintVerdict {
  let expired: TaintVerdict | undefined;
  for (const toleration of tolerations) {
    if (!toleratesTaint(toleration, taint)) continue;
    const until = tolerationEnd(toleration, taint);
    if (until === undefined || compareInstants(now, until) < 0)
      return { verdict: 'tolerated', toleration, until };
    expired = { verdict: 'expired', toleration, until };
  }
  return expired ?? { verdict: 'refused' };
}
