import type { RemovalBudget } from '../publish/judge/removal-budget.ts';

/** The loss of one placement, replica set or cluster by deletions. */
export interface DeletionLoss {
  /** `Placement team-a/web`: the object that has the clusters or works now. */
  readonly holder: string;
  /** Its identity (see `objectIdentity`). */
  readonly identity: string;
  /** The deleted objects that take them away, sorted; the holder itself may be one. */
  readonly by: readonly string[];
  readonly what: 'clusters' | 'works';
  /** Number of lost clusters or works. */
  readonly count: number;
  /** How many there are now. */
  readonly of: number;
  /** The clusters that lose something, sorted. */
  readonly clusters: readonly string[];
  /** Budget of the holder; undefined: the budget of the source. */
  readonly budget: RemovalBudget | undefined;
  /** Why the placement is held now; deleting a held placement is held, too. */
  readonly heldFor: string | undefined;
}
