import type { KubeObject } from '../model/object-meta.ts';
import { objectIdentity, refOf } from '../model/object-ref.ts';
import type { HeldDeletions, ObjectChange } from './plan.ts';

/** What happens to the deletions that a merge makes in one source. */
export interface JudgedDeletions {
  /** Undefined: nothing would be held. */
  readonly held: HeldDeletions | undefined;
  /** What the hub has of the source before it. */
  readonly members: readonly KubeObject[];
  /** What is not in Git after the merge and stays on the hub anyway: it is held, kept, or its scope is unknown. */
  readonly keptOnHub: readonly KubeObject[];
  /** What the controller deletes, also where it left Git before and was held since. */
  readonly deleted: readonly KubeObject[];
  /** What could not be taken into account. */
  readonly notEvaluated: readonly string[];
}

/** The changes of objects, with a mark on deletions that wait for a release. */
export function markHeldDeletions(
  changes: readonly ObjectChange[],
  deletions: readonly JudgedDeletions[],
): readonly ObjectChange[] {
  const waiting = deletions.flatMap(({ held, keptOnHub }) => (held === undefined ? [] : keptOnHub));
  if (waiting.length === 0) return changes;
  const ids = new Set(waiting.map((object) => objectIdentity(refOf(object))));
  return changes.map((one) =>
    one.change === 'deleted' && ids.has(objectIdentity(one.ref)) ? { ...one, held: true } : one,
  );
}
