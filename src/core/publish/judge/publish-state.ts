import type { Removal } from './removal-window.ts';

/** A make-before-break move that has not ended: replaced clusters stay published until the new ones are available. */
export interface Move {
  readonly token: string;
  readonly startedAtMs: number;
  /** Clusters that were not published when the move began. A move that replaces another one keeps the clusters of that one. */
  readonly arriving: readonly string[];
}

/** A change that removes clusters. It is stored as JSON before the first write, because a crash may interrupt the writes. */
export interface ChangeUnderWay {
  readonly atMs: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The release that approved the change: its removals do not count in the removal window. */
  readonly released?: Release | undefined;
}

export interface Release {
  readonly token: string;
  /** The user of `berth release`. */
  readonly by?: string | undefined;
}

/**
 * The state of a placement that is needed to judge its next change, stored as JSON. Losing it is safe: without it more changes are
 * held, not fewer.
 */
export interface PublishState {
  /** Digest of the placement's spec at the last publication. */
  readonly specHash: string;
  readonly publishedAtMs: number;
  /** The release that approved the last publication. */
  readonly released?: Release | undefined;
  /** Removals of recent changes, oldest first. */
  readonly removals: readonly Removal[];
  /** A change that removes clusters and is not known to be complete. */
  readonly change?: ChangeUnderWay | undefined;
  readonly move?: Move | undefined;
  /** Plan tokens of the last releases, oldest first. They approve no other change. */
  readonly spent?: readonly string[] | undefined;
  /** Digest of the content of the PlacementDecisions at the last decision record of this placement. */
  readonly pages?: string | undefined;
  /** Hash of that decision record. */
  readonly record?: string | undefined;
  /** The state was rebuilt from decision records, which do not contain whether a move had ended. */
  readonly recalled?: true | undefined;
}
