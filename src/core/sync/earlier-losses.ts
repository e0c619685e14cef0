import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, identityOf, refOf } from '@berth/kube/model/object-ref';
import type { Digest } from '../publish/approval/approval-code.ts';
import { RECENT_LOSSES_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import type { RemovalBudget } from '../publish/judge/removal-budget.ts';
import { nameHash, splitHashes } from './prune-releases.ts';

/** The losses of one holder without a release. As in the removal window of publication, only the number is stored. */
export interface EarlierLoss {
  readonly atMs: number;
  /** Hash of the holder; `*`: each holder that has no entry of its own, since there were too many. */
  readonly holder: string;
  /** Clusters or works. */
  readonly count: number;
  /** Hashes of the deleted objects that caused it, with their uids: an object that is created again is another one. None: unknown. */
  readonly causes: readonly string[];
}

/** Losses that still count, and the removal window in which each counts. */
export interface EarlierLosses {
  readonly losses: readonly EarlierLoss[];
  readonly windowMs: number;
}

type Annotations = Readonly<Record<string, string>>;

/** Annotations are limited to 256 KiB, and releases and deletions need most of that. */
const MAX_ENTRIES = 500;
/** Of all entries together. The oldest entries lose their causes first, and then count in any case. */
const MAX_CAUSES = 2_000;
const OTHERS = '*';

/**
 * Reads the annotation of the parent of an ApplySet: `MILLISECONDS:MARK:NUMBER` or `MILLISECONDS:MARK:NUMBER:CAUSES`,
 * separated by `;`, oldest first.
 */
export function parseLosses({ [RECENT_LOSSES_ANNOTATION]: text = '' }: Annotations): readonly EarlierLoss[] {
  return text.split(';').flatMap((entry) => {
    const [, at, holder, count, causes = ''] =
      /^(\d{1,15}):([0-9a-f]+|\*):(\d{1,9})(?::([0-9a-f]+))?$/.exec(entry) ?? [];
    if (at === undefined || holder === undefined) return [];
    return [{ atMs: Number(at), holder, count: Number(count), causes: splitHashes(causes) }];
  });
}

/** Deletions that are about to happen, or did. */
export interface LosingSync {
  readonly objects: readonly KubeObject[];
  /** Losses that these objects cause, among others. */
  readonly losses: readonly DeletionLoss[];
  readonly digest: Digest;
}

/**
 * The entries for the losses of a sync. A loss with several causes counts when the first one is deleted: to count it
 * early can only hold a deletion earlier.
 */
export function lossEntries(sync: LosingSync, atMs: number): readonly EarlierLoss[] {
  const hashes = hashesByName(sync);
  return sync.losses.flatMap(({ holder, count, by }) => {
    const causes = by.flatMap((name) => hashes.get(name) ?? []);
    return causes.length === 0 ? [] : [{ atMs, holder: nameHash(sync.digest, holder), count, causes }];
  });
}

/**
 * The earlier losses that count in addition to those of a sync. A loss does not count if none of its causes was
 * deleted: the controller was stopped before. If only some were deleted, and the sync deletes others, both are one
 * deletion: only the part of the earlier loss that is more than the new one counts.
 * @param members the objects of the source on the hub, before the sync
 */
export function lossesBefore(
  earlier: readonly EarlierLoss[],
  members: readonly KubeObject[],
  sync: LosingSync,
): readonly EarlierLoss[] {
  if (!earlier.some(({ causes }) => causes.length > 0)) return earlier;
  const stay = members.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const present = new Set(stay.map((object) => causeHash(object, sync)));
  const leaving = new Set(hashesByName(sync).values());
  const repeated = new Map(lossEntries(sync, 0).map(({ holder, count }) => [holder, count]));
  return earlier.flatMap((loss) => {
    const { causes, holder } = loss;
    if (causes.length > 0 && causes.every((hash) => present.has(hash))) return [];
    const again = causes.some((hash) => leaving.has(hash)) ? (repeated.get(holder) ?? 0) : 0;
    const count = Math.max(0, loss.count - again);
    repeated.set(holder, (repeated.get(holder) ?? 0) - (loss.count - count));
    return count === 0 ? [] : [{ ...loss, count }];
  });
}

/** By the name that `DeletionLoss.by` has. */
function hashesByName(sync: LosingSync): ReadonlyMap<string, string> {
  return new Map(sync.objects.map((object) => [formatRef(refOf(object)), causeHash(object, sync)]));
}

function causeHash(object: KubeObject, { digest }: Pick<LosingSync, 'digest'>): string {
  return nameHash(digest, `${identityOf(object)} ${object.metadata.uid ?? ''}`);
}

/**
 * The annotation, which must be written before the first deletion. If there are too many entries, the largest of the
 * oldest ones is kept for every other holder.
 */
export function noteLosses(losses: readonly EarlierLoss[], nowMs: number): Annotations {
  const sorted = losses
    .map((loss) => ({ ...loss, atMs: Math.min(loss.atMs, nowMs) }))
    .sort((a, b) => a.atMs - b.atMs);
  const named = sorted.filter(({ holder }) => holder !== OTHERS);
  const dropped = named.splice(0, Math.max(0, named.length - MAX_ENTRIES));
  const others = [...sorted.filter(({ holder }) => holder === OTHERS), ...dropped];
  const most = Math.max(0, ...new Set(others.map(({ holder }) => sumEarlierLosses(others, holder))));
  const atMs = Math.max(0, ...others.map((loss) => loss.atMs));
  const kept = most === 0 ? named : [{ atMs, holder: OTHERS, count: most, causes: [] }, ...named];
  let causes = 0;
  const entries = kept.toReversed().map((loss) => {
    causes += loss.causes.length;
    const hashes = causes > MAX_CAUSES ? '' : loss.causes.join('');
    return [loss.atMs, loss.holder, loss.count, ...(hashes === '' ? [] : [hashes])].join(':');
  });
  return { [RECENT_LOSSES_ANNOTATION]: entries.toReversed().join(';') };
}

/** @param holder its hash */
export function sumEarlierLosses(losses: readonly EarlierLoss[], holder: string): number {
  return losses
    .filter((loss) => loss.holder === holder || loss.holder === OTHERS)
    .reduce((sum, { count }) => sum + count, 0);
}

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
