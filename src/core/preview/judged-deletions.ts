import type { KubeObject } from '../model/object-meta.ts';
import { identityOf, objectIdentity } from '../model/object-ref.ts';
import type { HeldDeletions, ObjectChange } from './plan.ts';

/** What happens to the deletions that a merge makes in one source. */
export interface JudgedDeletions {
  /** Undefined if nothing would be held. */
  readonly held: HeldDeletions | undefined;
  /** The objects of the source on the hub before the merge that its base does not declare. */
  readonly left: readonly KubeObject[];
  /**
   * Objects that are not in Git after the merge and stay on the hub: they are held, kept, or their scope is unknown.
   */
  readonly keptOnHub: readonly KubeObject[];
  /** Objects that the controller deletes, including those that were removed from Git earlier and were held. */
  readonly deleted: readonly KubeObject[];
  /** What could not be evaluated. */
  readonly notEvaluated: readonly string[];
}

/** The changes of objects. Deletions that wait for a release are marked. */
export function markHeldDeletions(
  changes: readonly ObjectChange[],
  deletions: readonly JudgedDeletions[],
): readonly ObjectChange[] {
  const waiting = deletions.flatMap(({ held, keptOnHub }) => (held === undefined ? [] : keptOnHub));
  if (waiting.length === 0) return changes;
  const ids = new Set(waiting.map((object) => identityOf(object)));
  return changes.map((one) =>
    one.change === 'deleted' && ids.has(objectIdentity(one.ref)) ? { ...one, held: true } : one,
  );
}
