import type { KubeObject } from '../model/object-meta.ts';
import { formatRef, identityOf, objectIdentity, refOf } from '../model/object-ref.ts';
import { isPruned, NOT_ALL_READ } from '../sync/plan-prune.ts';
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
  /** Objects that left Git and stay, because not all of Git can be read: why each does. Absent: none. */
  readonly staying?: readonly StayingObject[] | undefined;
  /** What could not be evaluated. */
  readonly notEvaluated: readonly string[];
}

/** An object that left Git and stays on the hub. */
export interface StayingObject {
  readonly object: KubeObject;
  /** `web.yaml cannot be read`. */
  readonly because: string;
}

/** `Placement shop/web left Git and stays: web.yaml cannot be read (nothing of the source is deleted)` */
export function stayingText({ object, because }: StayingObject): string {
  return `${formatRef(refOf(object))} ${stayingMessage(because)}`;
}

export function stayingMessage(because: string): string {
  return `left Git and stays: ${because} (nothing of the source is deleted)`;
}

/**
 * If one object is in doubt, nothing of the source is deleted.
 * @param undeclared the objects that are not in Git
 */
export function allStay(
  undeclared: readonly KubeObject[],
  doubts: readonly StayingObject[],
): readonly StayingObject[] {
  const reasons = new Map(doubts.map(({ object, because }) => [object, because]));
  const others = doubts[0]?.because ?? NOT_ALL_READ;
  return undeclared.filter(isPruned).map((object) => ({ object, because: reasons.get(object) ?? others }));
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
