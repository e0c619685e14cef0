import type { Digest } from '../publish/approval/plan-token.ts';
import { RECENT_LOSSES_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import type { DeletionLoss } from './deletion-loss.ts';
import { objectMark } from './object-mark.ts';

/** The losses of one holder without a release. As in the window of publication, only the number is stored. */
export interface EarlierLoss {
  readonly atMs: number;
  /** Mark of the holder; `*`: each holder that has no entry of its own, since there were too many. */
  readonly holder: string;
  /** Clusters or works. */
  readonly count: number;
}

/** Losses that still count, and the window in which each counts. */
export interface EarlierLosses {
  readonly losses: readonly EarlierLoss[];
  readonly windowMs: number;
}

type Annotations = Readonly<Record<string, string>>;

/** Annotations are limited to 256 KiB, and releases and deletions need most of that. */
const MAX_ENTRIES = 500;
const OTHERS = '*';

/** Reads the annotation of the parent of an ApplySet: `MILLISECONDS:MARK:NUMBER`, separated by `;`, oldest first. */
export function parseLosses({ [RECENT_LOSSES_ANNOTATION]: text = '' }: Annotations): readonly EarlierLoss[] {
  return text.split(';').flatMap((entry) => {
    const [, at, holder, count] = /^(\d{1,15}):([0-9a-f]+|\*):(\d{1,9})$/.exec(entry) ?? [];
    if (at === undefined || holder === undefined) return [];
    return [{ atMs: Number(at), holder, count: Number(count) }];
  });
}

/** The entries for losses that are about to happen. */
export function lossEntries(losses: readonly DeletionLoss[], atMs: number, digest: Digest): EarlierLoss[] {
  return losses.map(({ holder, count }) => ({ atMs, holder: objectMark(digest, holder), count }));
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
  const kept = most === 0 ? named : [{ atMs, holder: OTHERS, count: most }, ...named];
  return {
    [RECENT_LOSSES_ANNOTATION]: kept.map((loss) => `${loss.atMs}:${loss.holder}:${loss.count}`).join(';'),
  };
}

/** @param holder its mark */
export function sumEarlierLosses(losses: readonly EarlierLoss[], holder: string): number {
  return losses
    .filter((loss) => loss.holder === holder || loss.holder === OTHERS)
    .reduce((sum, { count }) => sum + count, 0);
}
