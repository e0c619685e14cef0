import type { Condition, ObjectMeta } from '@berth/kube/model/object-meta';
import { findCondition } from '@berth/kube/model/condition-list';

/**
 * Requests that the ApplicationSet controller generates now. Only its presence counts; the controller removes it after
 * a successful reconcile. The value is a time, because a second patch with the same value would cause no event (argo-cd
 * `applicationset_controller.go`).
 */
export const REFRESH_ANNOTATION = 'argocd.argoproj.io/application-set-refresh';
/** On an ApplicationSet: the decisions of its last refresh. Read after a restart and by another leader. */
export const REFRESHED_FOR_ANNOTATION = 'berth.dev/refreshed-for';

/** The fields of an ApplicationSet that a refresh needs. */
export interface RefreshTarget {
  readonly metadata: ObjectMeta;
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/** The last refresh that this process requested. Milliseconds since the epoch. */
export interface SentRefresh {
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** The annotations were written for these decisions. */
  readonly tries: number;
  /** The controller has generated from these decisions. */
  readonly confirmed: boolean;
}

export type RefreshStep =
  /** Nothing to do. */
  | { readonly kind: 'none' }
  /** Write both annotations. */
  | { readonly kind: 'refresh'; readonly isRetry: boolean }
  /** The controller generated from these decisions. */
  | { readonly kind: 'confirmed' }
  /** Check again after this time, or when the ApplicationSet changes. */
  | { readonly kind: 'wait'; readonly forMs: number; readonly problem: string | undefined };

/**
 * The minimum time between two refreshes of one ApplicationSet: each one makes Argo CD generate all its Applications.
 */
export const MIN_INTERVAL_MS = 2_000;
const FIRST_RETRY_MS = 15_000;
/** Argo CD tries again by itself after this time if a generator failed. */
const MAX_RETRY_MS = 180_000;

/**
 * The next action for one ApplicationSet.
 * @param digest of the decisions that it uses; undefined: none is published, and Argo CD keeps its Applications
 * @param sent the last refresh by this process; undefined: none since its start
 */
export function planRefresh(
  { metadata, status }: RefreshTarget,
  digest: string | undefined,
  { sent, nowMs }: { readonly sent: SentRefresh | undefined; readonly nowMs: number },
): RefreshStep {
  const annotations = metadata.annotations ?? {};
  if (digest === undefined || metadata.deletionTimestamp !== undefined) return { kind: 'none' };
  if (annotations[REFRESHED_FOR_ANNOTATION] !== digest) {
    const waitMs = sent === undefined ? 0 : sent.lastAtMs + MIN_INTERVAL_MS - nowMs;
    return waitMs > 0
      ? { kind: 'wait', forMs: waitMs, problem: undefined }
      : { kind: 'refresh', isRetry: false };
  }
  const isTaken = annotations[REFRESH_ANNOTATION] === undefined;
  if (isTaken && (sent === undefined || sent.confirmed)) return { kind: 'none' };
  const failure = findCondition(status?.conditions, 'ErrorOccurred');
  const failed = failure?.status === 'True' ? failure.message : undefined;
  if (isTaken && failed === undefined) return { kind: 'confirmed' };
  // After a restart the time of the request is unknown, so the refresh is requested again.
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
