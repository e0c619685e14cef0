import type { Removal } from './removal-window.ts';

/** A make-before-break move under way. */
export interface Move {
  readonly token: string;
  readonly startedAtMs: number;
  /** Clusters that were not published when the move began, or when the one that it took over from did. */
  readonly arriving: readonly string[];
}

/** A change in progress, stored before its first cluster is removed, because it may be interrupted. Plain JSON. */
export interface ChangeUnderWay {
  readonly atMs: number;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The release that lets it through: what it removes does not count. */
  readonly released?: Release | undefined;
}

export interface Release {
  readonly token: string;
  /** Who gave it by hand. */
  readonly by?: string | undefined;
}

/**
 * What must be stored about a placement to judge its next change. Plain JSON. Losing it is safe: with an unknown past
 * more changes are held, not fewer.
 */
export interface PublishState {
  /** Digest of the spec behind the last publication. */
  readonly specHash: string;
  readonly publishedAtMs: number;
  /** The release that let the last publication through. */
  readonly released?: Release | undefined;
  /** What recent changes removed, oldest first. */
  readonly removals: readonly Removal[];
  /** A change that removes clusters and whose end was not seen. */
  readonly change?: ChangeUnderWay | undefined;
  readonly move?: Move | undefined;
  /** Plan tokens of the last releases, oldest first. */
  readonly spent?: readonly string[] | undefined;
  /** Digest of what was on the pages at the last record of this placement. */
  readonly pages?: string | undefined;
  /** Hash of that record. */
  readonly record?: string | undefined;
  /** Rebuilt from records, which do not say whether a move was under way. */
  readonly recalled?: true | undefined;
}
