import type { Removal } from './removal-budget.ts';

/**
 * A handover (make before break) in progress. Replaced clusters stay published until the new ones are
 * available.
 */
export interface Handover {
  readonly token: string;
  readonly startedAtMs: number;
  /**
   * Clusters that were not published when the handover began. One that replaces another handover also
   * keeps the clusters of that one.
   */
  readonly arriving: readonly string[];
}

/**
 * A change that removes clusters. It is stored as JSON before its first write, because a crash may
 * interrupt the writes.
 */
export interface ChangeUnderWay {
  readonly atMs: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /**
   * The release that approved the change. Removals of a released change do not count in the removal
   * window.
   */
  readonly released?: Release | undefined;
}

export interface Release {
  readonly token: string;
  /** The user of `berth release`. */
  readonly by?: string | undefined;
}

/**
 * What Berth must know about a placement to judge its next change, stored as JSON. It is safe to
 * lose: without it Berth holds more changes, not fewer.
 */
export interface PublishState {
  /** Of the placement. Absent: written by an earlier version, or rebuilt from decision records. */
  readonly uid?: string | undefined;
  /** Digest of the placement's spec at the last publication. */
  readonly specHash: string;
  readonly publishedAtMs: number;
  /** The release that approved the last publication. */
  readonly released?: Release | undefined;
  /** Removals of recent changes, oldest first. */
  readonly removals: readonly Removal[];
  /** A change that removes clusters and is not known to be complete. */
  readonly change?: ChangeUnderWay | undefined;
  /** Files of earlier versions have this name, too. */
  readonly move?: Handover | undefined;
  /** Approval codes of the last releases, oldest first. They approve no other change. */
  readonly spent?: readonly string[] | undefined;
  /**
   * Digest of the content of the PlacementDecisions when the last decision record of this placement
   * was made.
   */
  readonly pages?: string | undefined;
  /** Hash of that decision record. */
  readonly record?: string | undefined;
  /** Newest resource version of the PlacementDecisions then. */
  readonly pagesVersion?: string | undefined;
  /** How often the hub had been restored from a backup then. */
  readonly restores?: number | undefined;
  /** The state was rebuilt from decision records. They do not say whether a handover had ended. */
  readonly recalled?: true | undefined;
}

/**
 * The state of the placement with a UID. What an earlier one of the same name lost and was released for does not count;
 * its pages may still be there.
 */
export function stateOfUid(
  state: PublishState | undefined,
  uid: string | undefined,
): PublishState | undefined {
  if (state?.uid === undefined || state.uid === uid) return state;
  const { released: _released, change: _change, move: _move, spent: _spent, ...kept } = state;
  return { ...kept, uid, removals: [] };
}
