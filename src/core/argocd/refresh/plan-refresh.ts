import type { Condition, ObjectMeta } from '../../model/object-meta.ts';
import { findCondition } from '../../work/conditions/condition-list.ts';

/**
 * Asks the ApplicationSet controller to generate now. Its presence counts, and the controller removes it after a reconcile that
 * succeeded. Berth writes a time: a second patch with the same value would be no event (argo-cd `applicationset_controller.go`).
 */
export const REFRESH_ANNOTATION = 'argocd.argoproj.io/application-set-refresh';
/** On an ApplicationSet: which decisions it was refreshed for. A restart and another leader read it. */
export const REFRESHED_FOR_ANNOTATION = 'berth.dev/refreshed-for';

/** An ApplicationSet, as far as refreshing reads it. */
export interface RefreshTarget {
  readonly metadata: ObjectMeta;
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/** The last refresh that this process asked for. Milliseconds since the epoch. */
export interface SentRefresh {
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** Annotations written for these decisions. */
  readonly tries: number;
  /** The controller generated from them. */
  readonly confirmed: boolean;
}

export type RefreshStep =
  | { readonly kind: 'rest' }
  /** Write both annotations. */
  | { readonly kind: 'refresh'; readonly isRetry: boolean }
  /** The controller generated from these decisions. */
  | { readonly kind: 'confirmed' }
  /** Look again after this time, or when the ApplicationSet changes. */
  | { readonly kind: 'wait'; readonly forMs: number; readonly problem: string | undefined };

/** Two refreshes of one ApplicationSet are at least this far apart: each makes Argo CD generate all its Applications. */
export const MIN_INTERVAL_MS = 2_000;
const FIRST_RETRY_MS = 15_000;
/** Argo CD itself tries again after this time when a generator failed. */
const MAX_RETRY_MS = 180_000;

/**
 * What to do about one ApplicationSet.
 * @param digest of the decisions that it uses; undefined: nothing is published, and Argo CD keeps what it generated
 * @param sent the last refresh by this process; undefined: none since it was started
 */
export function planRefresh(
  { metadata, status }: RefreshTarget,
  digest: string | undefined,
  { sent, nowMs }: { readonly sent: SentRefresh | undefined; readonly nowMs: number },
): RefreshStep {
  const annotations = metadata.annotations ?? {};
  if (digest === undefined || metadata.deletionTimestamp !== undefined) return { kind: 'rest' };
  if (annotations[REFRESHED_FOR_ANNOTATION] !== digest) {
    const waitMs = sent === undefined ? 0 : sent.lastAtMs + MIN_INTERVAL_MS - nowMs;
    return waitMs > 0
      ? { kind: 'wait', forMs: waitMs, problem: undefined }
      : { kind: 'refresh', isRetry: false };
  }
  const isTaken = annotations[REFRESH_ANNOTATION] === undefined;
  if (isTaken && (sent === undefined || sent.confirmed)) return { kind: 'rest' };
  const failure = findCondition(status?.conditions, 'ErrorOccurred');
  const failed = failure?.status === 'True' ? failure.message : undefined;
  if (isTaken && failed === undefined) return { kind: 'confirmed' };
  // After a restart it is unknown when it was asked for: it is asked again.
  const dueMs = sent === undefined ? 0 : sent.lastAtMs + retryDelayMs(sent.tries);
  if (dueMs <= nowMs) return { kind: 'refresh', isRetry: true };
  return {
    kind: 'wait',
    forMs: dueMs - nowMs,
    problem: failed ?? (sent !== undefined && sent.tries > 1 ? NOT_TAKEN : undefined),
  };
}

const NOT_TAKEN = 'the ApplicationSet controller did not take the refresh; does it run?';

function retryDelayMs(tries: number): number {
  return Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(tries - 1, 10));
}
