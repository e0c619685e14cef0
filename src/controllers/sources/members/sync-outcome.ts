import type { CommitInfo } from '@berth/git-reader/repository/git-repository';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { SourceContent } from '../manifests/source-content.ts';
import type { SyncProblem } from './sync-problem.ts';
import type { UnlistedKind } from './unlisted-kind.ts';

/** The current state of a source. */
export interface SyncInput {
  readonly objects: readonly SourceObject[];
  readonly complete: boolean;
  /** See `SourceContent`. */
  readonly doubtsAbout?: SourceContent['doubtsAbout'];
  /** The commit, which may contain releases; absent for a plain folder. */
  readonly commit?: CommitInfo | undefined;
}

/** Options of a sync. */
export interface SyncOptions {
  /** False: the hub is assumed to be unchanged since the last call. Default: true. */
  readonly compare?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Result of a sync: changes of the hub, and problems. Counts are objects. */
export interface SyncOutcome {
  readonly applied: number;
  readonly unchanged: number;
  readonly pruned: number;
  readonly problems: readonly SyncProblem[];
  /** The release that approved a prune beyond the budget, and who released it. */
  readonly released?: { readonly token: string; readonly by: string } | undefined;
  readonly pruneHeld: { readonly message: string; readonly token: string } | undefined;
  /** Kinds that could not be listed, so that nothing was done for them. Each has its own entry among the problems. */
  readonly unlisted: readonly UnlistedKind[];
}
