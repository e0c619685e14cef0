import type { Digest } from '../publish/approval/approval-code.ts';
import { RECENT_DELETIONS_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import { REMOVAL_WINDOW_MS } from '../publish/judge/removal-budget.ts';
import { nameHash, splitHashes } from './prune-releases.ts';

/**
 * Deletions within this time count together, so that a source that loses its objects commit by
 * commit is detected, too.
 */
export const DEFAULT_DELETION_WINDOW_MS = REMOVAL_WINDOW_MS;

/** The deletions of one sync of a source without a release. */
export interface Deletion {
  readonly atMs: number;
  /** One hash for each object. */
  readonly hashes: readonly string[];
  /** Objects without a hash: there were too many. */
  readonly unnamed: number;
}

/** Earlier deletions that still count. */
export interface EarlierDeletions {
  readonly deletions: readonly Deletion[];
  /** How long a deletion counts. */
  readonly windowMs: number;
  /** Identities of the objects that other sources have on the hub or declare: an object that was transferred is not gone. */
  readonly elsewhere: Iterable<string>;
}

type Annotations = Readonly<Record<string, string>>;

/**
 * Annotations are limited to 256 KiB, and releases need most of that. For more objects only the
 * number is stored.
 */
const MAX_HASHES = 1_000;

/** The hash of an object's identity, which has no version: an object that is created again is the same. */
export function deletionHash(digest: Digest, identity: string): string {
  return nameHash(digest, identity);
}

/**
 * Reads the annotation of the parent of an ApplySet: `MILLISECONDS:MARKS` or `MILLISECONDS*NUMBER`, separated by `;`,
 * oldest first.
 */
export function parseDeletions({
  [RECENT_DELETIONS_ANNOTATION]: text = '',
}: Annotations): readonly Deletion[] {
  return text.split(';').flatMap((entry) => {
    const [, at, hashes = '', unnamed] = /^(\d{1,15})(?::([0-9a-f]+)|\*(\d{1,9}))$/.exec(entry) ?? [];
    if (at === undefined) return [];
    return [
      {
        atMs: Number(at),
        hashes: splitHashes(hashes),
        unnamed: Number(unnamed ?? 0),
      },
    ];
  });
}

/**
 * The deletions that count now. While there is a hold, all count, because a hold does not expire.
 */
export function countedDeletions<T extends { readonly atMs: number }>(
  deletions: readonly T[],
  now: { readonly nowMs: number; readonly windowMs: number; readonly isHeld: boolean },
): readonly T[] {
  // A window of 0 judges each sync by itself, even if it was set during a hold.
  if (now.windowMs === 0) return [];
  // A clock that jumped back leaves deletions in the future: they count.
  return now.isHeld ? deletions : deletions.filter(({ atMs }) => now.nowMs - atMs < now.windowMs);
}

/**
 * The annotation, which must be written before the first deletion. An object that is not deleted in the end still
 * exists, and does not count.
 */
export function noteDeletions(deletions: readonly Deletion[], nowMs: number): Annotations {
  const named: Deletion[] = [];
  let hashes = 0;
  let [unnamed, unnamedAtMs] = [0, 0];
  for (const deletion of deletions.toReversed()) {
    const atMs = Math.min(deletion.atMs, nowMs);
    hashes += deletion.hashes.length;
    const isNamed = deletion.hashes.length > 0 && hashes <= MAX_HASHES;
    if (isNamed) named.unshift({ atMs, hashes: deletion.hashes, unnamed: 0 });
    const more = deletion.unnamed + (isNamed ? 0 : deletion.hashes.length);
    if (more > 0) [unnamed, unnamedAtMs] = [unnamed + more, Math.max(unnamedAtMs, atMs)];
  }
  const entries = named.map((deletion) => `${deletion.atMs}:${deletion.hashes.join('')}`);
  if (unnamed > 0) entries.unshift(`${unnamedAtMs}*${unnamed}`);
  return { [RECENT_DELETIONS_ANNOTATION]: entries.join(';') };
}

/**
 * The number of objects missing because of earlier deletions, and the sum of these and the current
 * members. An object that exists again does not count; one that was deleted twice counts once.
 */
export function countGoneMembers(
  { deletions, elsewhere }: Pick<EarlierDeletions, 'deletions' | 'elsewhere'>,
  members: Iterable<{ readonly identity: string; readonly isLeaving: boolean }>,
  digest: Digest,
): { readonly gone: number; readonly of: number } {
  const gone = new Set(deletions.flatMap(({ hashes }) => hashes));
  const isWanted = gone.size > 0;
  let of = 0;
  for (const { identity, isLeaving } of members) {
    const hash = isWanted ? deletionHash(digest, identity) : '';
    if (!isLeaving) gone.delete(hash);
    if (!gone.has(hash)) of += 1;
  }
  if (gone.size > 0) for (const identity of elsewhere) gone.delete(deletionHash(digest, identity));
  const count = gone.size + deletions.reduce((sum, { unnamed }) => sum + unnamed, 0);
  return { gone: count, of: of + count };
}
