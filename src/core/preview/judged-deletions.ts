import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, identityOf, objectIdentity, refOf } from '@berth/kube/model/object-ref';
import type { WithdrawnObject } from '../sync/applied/departure.ts';
import { NOT_ALL_READ } from '../sync/plan-prune.ts';
import { changedFields } from './object-changes.ts';
import type { HeldDeletions, ObjectChange, WaitingChange } from './plan.ts';

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
 * @param leaving the objects that are not in Git and would be deleted, or lose what Git applied
 */
export function allStay(
  leaving: readonly KubeObject[],
  doubts: readonly StayingObject[],
): readonly StayingObject[] {
  const reasons = new Map(doubts.map(({ object, because }) => [object, because]));
  const others = doubts[0]?.because ?? NOT_ALL_READ;
  return leaving.map((object) => ({ object, because: reasons.get(object) ?? others }));
}

/** An object that loses what Git applied. */
export interface WithdrawnFields extends WithdrawnObject {
  /** The object as it will be. */
  readonly after: KubeObject;
}

/**
 * The deletions of a merge without those that are held just so without it, and what waits instead.
 * @param due the deletions without the merge, of the same sources; empty if there are none
 */
export function withoutWaiting(
  judged: readonly JudgedDeletions[],
  due: readonly JudgedDeletions[],
): { readonly judged: readonly JudgedDeletions[]; readonly waiting: readonly WaitingChange[] } {
  const waits = (at: number): boolean =>
    due[at]?.held !== undefined && due[at].held.token === judged[at]?.held?.token;
  return {
    judged: judged.map((one, at) => (waits(at) ? { ...one, held: undefined } : one)),
    waiting: [
      ...due.flatMap(({ held }, at): readonly WaitingChange[] =>
        held !== undefined && waits(at) ? [{ kind: 'deletions', subject: held.source }] : [],
      ),
      ...due.flatMap(({ deleted }) =>
        deleted.map((object): WaitingChange => ({ kind: 'deletion', subject: formatRef(refOf(object)) })),
      ),
    ],
  };
}

/** The changes of objects. Deletions that wait for a release are held, and objects that stay on the hub are no deletions. */
export function noteDepartures(
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
