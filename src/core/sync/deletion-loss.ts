import type { RemovalBudget } from '../publish/judge/removal-budget.ts';

/** What one placement, replica set or cluster loses by deletions. */
export interface DeletionLoss {
  /** `Placement team-a/web`: what has the clusters or works now. */
  readonly holder: string;
  /** The deleted objects that take them away, sorted; the holder itself may be one. */
  readonly by: readonly string[];
  readonly what: 'clusters' | 'works';
  /** How many go: the weight of the deletion for this holder. */
  readonly count: number;
  /** How many there are now. */
  readonly of: number;
  /** The clusters that lose something, sorted. */
  readonly clusters: readonly string[];
  /** Of the holder itself; undefined: the source's counts. */
  readonly budget: RemovalBudget | undefined;
  /** Why the placement behind it is held now: deleting what is held is held as well. */
  readonly heldFor: string | undefined;
}
