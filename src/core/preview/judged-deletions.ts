import type { KubeObject } from '../model/object-meta.ts';
import { identityOf, objectIdentity } from '../model/object-ref.ts';
import type { WithdrawnObject } from '../sync/applied/departure.ts';
import { changedFields } from './object-changes.ts';
import type { HeldDeletions, ObjectChange } from './plan.ts';

const MANAGED_FIELDS = 'metadata.managedFields';

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
  /** Objects that leave Git and stay on the hub, without what Git applied. */
  readonly withdrawn: readonly WithdrawnFields[];
  /** What could not be evaluated. */
  readonly notEvaluated: readonly string[];
}

/** An object that loses what Git applied. */
export interface WithdrawnFields extends WithdrawnObject {
  /** The object as it will be. */
  readonly after: KubeObject;
}

/** The changes of objects. Deletions that wait for a release are marked, and objects that stay on the hub are no deletions. */
export function markDepartures(
  changes: readonly ObjectChange[],
  deletions: readonly JudgedDeletions[],
): readonly ObjectChange[] {
  const waiting = deletions.flatMap(({ held, keptOnHub }) => (held === undefined ? [] : keptOnHub));
  const ids = new Set(waiting.map((object) => identityOf(object)));
  const withdrawn = new Map(
    deletions.flatMap((judged) => judged.withdrawn.map((one) => [identityOf(one.object), one] as const)),
  );
  if (ids.size + withdrawn.size === 0) return changes;
  return changes.map((one): ObjectChange => {
    if (one.change !== 'deleted') return one;
    const id = objectIdentity(one.ref);
    const stays = withdrawn.get(id);
    if (stays === undefined) return ids.has(id) ? { ...one, held: true } : one;
    const fields = changedFields(stays.object, stays.after).filter((field) => field !== MANAGED_FIELDS);
    return { ...one, change: 'withdrawn', fields, because: stays.because };
  });
}
