import type { Taint } from '../../model/kind/managed-cluster.ts';
import type { Toleration } from '../../model/kind/placement.ts';
import type { Instant } from '../../model/rfc3339.ts';
import { addSeconds, compareInstants, parseRfc3339 } from '../../model/rfc3339.ts';

/** Go's zero time: what an absent `timeAdded` counts as. */
const ZERO_TIME: Instant = { seconds: -62_135_596_800, nanos: 0 };

/** What is wrong with a toleration (wire texts), or undefined. */
export function tolerationProblem(toleration: Toleration): string | undefined {
  const { key = '', operator = '', value = '' } = toleration;
  if (key === '' && operator !== 'Exists') return 'If the key is empty, operator must be Exists.';
  if (operator === 'Exists' && value !== '') return 'If the operator is Exists, the value should be empty.';
  return undefined;
}

/** Whether the toleration matches this taint, without its time limit. */
export function toleratesTaint(toleration: Toleration, taint: Taint): boolean {
  const { effect = '', key = '', operator = '', value = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '');
}

/** The instant at which a toleration stops to tolerate a taint; undefined: never. */
export function tolerationEnd(toleration: Toleration, taint: Taint): Instant | undefined {
  if (toleration.tolerationSeconds === undefined) return undefined;
  const added = parseRfc3339(taint.timeAdded ?? '') ?? ZERO_TIME;
  return addSeconds(added, toleration.tolerationSeconds);
}

/** What one taint means for one placement at one moment. */
export type TaintVerdict =
  | { readonly verdict: 'prefer-only' | 'already-decided' | 'refused' }
  /** A toleration matches but ran out at `until`. */
  | { readonly verdict: 'expired'; readonly toleration: Toleration; readonly until: Instant }
  | { readonly verdict: 'tolerated'; readonly toleration: Toleration; readonly until: Instant | undefined };

/** The first matching toleration that has not run out wins; PreferNoSelect never refuses. */
export function judgeTaint(
  taint: Taint,
  tolerations: readonly Toleration[],
  at: { readonly now: Instant; readonly decided: boolean },
): TaintVerdict {
  if (taint.effect === 'PreferNoSelect') return { verdict: 'prefer-only' };
  if (taint.effect === 'NoSelectIfNew' && at.decided) return { verdict: 'already-decided' };
  return matchTolerations(taint, tolerations, at.now);
}

/** As judgeTaint, but by the tolerations alone, whatever the effect. */
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
