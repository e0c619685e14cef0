import type { CommitInfo } from '../../../adapters/git/repository/git-repository.ts';
import type { SourceObject } from '../../../core/model/source-object.ts';
import type { SyncProblem } from './sync-problem.ts';
import type { UnlistedKind } from './unlisted-kind.ts';

/** The current content of a source. */
export interface SyncInput {
  readonly objects: readonly SourceObject[];
  readonly complete: boolean;
  /** The commit whose releases count; absent for a plain folder. */
  readonly commit?: CommitInfo | undefined;
}

/** Options of one pass. */
export interface SyncOptions {
  /** False: the hub is assumed to be unchanged since the last call. Default: true. */
  readonly compare?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** What a pass did to the hub, and what it could not do. The counts are numbers of objects. */
export interface SyncOutcome {
  readonly applied: number;
  readonly unchanged: number;
  readonly pruned: number;
  readonly problems: readonly SyncProblem[];
  /** The release that approved a prune beyond the budget, and who released it. */
  readonly released?: { readonly token: string; readonly by: string } | undefined;
  readonly pruneHeld: { readonly message: string; readonly token: string } | undefined;
  /** Objects left Git, and it is not known yet whether they moved to another source. */
  readonly pruneWaits?: boolean | undefined;
  /** Kinds that could not be listed, so that nothing was done for them. Each has its own entry among the problems. */
  readonly unlisted: readonly UnlistedKind[];
}
