import type { KubeObject } from '../model/object-meta.ts';
import type { HeldDeletions } from './plan.ts';

/** What comes of the deletions that a merge makes in one source. */
export interface JudgedDeletions {
  /** Undefined: nothing would be held. */
  readonly held: HeldDeletions | undefined;
  /** What the hub has of the source before it. */
  readonly members: readonly KubeObject[];
  /** What is not in Git after the merge and stays on the hub all the same: it is held, kept, or nobody knows. */
  readonly stays: readonly KubeObject[];
  /** What the controller deletes, also where it left Git before and was held since. */
  readonly goes: readonly KubeObject[];
  /** What could not be taken into account. */
  readonly notEvaluated: readonly string[];
}
