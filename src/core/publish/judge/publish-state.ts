import type { Removal } from './removal-window.ts';

/** A make-before-break move under way. */
export interface Move {
  readonly token: string;
  readonly startedAtMs: number;
  /** Clusters that were not published when the move began, or when the one that it took over from did. */
  readonly arriving: readonly string[];
}

/** What a change is about to do, kept before the first cluster of it is taken away: it may be cut short. Plain JSON. */
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
 * What must be remembered about a placement to judge its next change. Plain JSON. Forgetting it is safe: an unknown past makes
 * the judgement more careful, not less.
 */
export interface PublishState {
  /** Digest of the spec behind the last publication. */
  readonly specHash: string;
  readonly publishedAtMs: number;
  /** The release that let the last publication through. */
  readonly released?: Release | undefined;
  /** What recent changes removed, oldest first. */
  readonly removals: readonly Removal[];
  /** A change that takes clusters away and was not seen to its end. */
  readonly change?: ChangeUnderWay | undefined;
  readonly move?: Move | undefined;
  /** Plan tokens of the last releases that let a change through, oldest first. */
  readonly spent?: readonly string[] | undefined;
  /** Digest of what was on the pages at the last record of this placement. */
  readonly pages?: string | undefined;
  /** Hash of that record. */
  readonly record?: string | undefined;
  /** Rebuilt from records, which do not say whether a move was under way. */
  readonly recalled?: true | undefined;
}
