import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { canonicalJson } from '@berth/runtime/json/json-equal';
import { sha256 } from '@berth/runtime/sha256';

/** The lists of a snapshot, in the order of the manifest. */
export const SNAPSHOT_LISTS = [
  'placements',
  'clusters',
  'clusterSets',
  'bindings',
  'decisions',
  'scores',
] as const;
export type SnapshotList = (typeof SNAPSHOT_LISTS)[number];

/** The objects of each list are stored in this number of pieces. A changed object rewrites only one piece. */
const PIECES = 16;

interface SnapshotObject {
  readonly metadata: { readonly namespace?: string | undefined; readonly name: string };
}

/** One piece of one list, named by the hash of its content. */
export interface SnapshotPiece {
  readonly hash: string;
  readonly objects: readonly SnapshotObject[];
}

/** The hash of a snapshot and its pieces. */
export interface SnapshotDigest {
  readonly hash: string;
  readonly now: string;
  /** Keys of the placements that are scheduled before the others. These and all other lists are sorted by key. */
  readonly first: readonly string[];
  /** See `Snapshot.held`. */
  readonly held: Snapshot['held'];
  /** The objects of a piece are sorted by key. */
  readonly pieces: Readonly<Record<SnapshotList, readonly SnapshotPiece[]>>;
}

/** Objects are identical (the same references) while they do not change, so their digests are cached. */
const objectDigests = new WeakMap<object, string>();
const pieceNumbers = new Map<string, number>();

/** @param snapshot with lists that are sorted by key; some placements may come before the others, sorted as well */
export function digestSnapshot(snapshot: Snapshot): SnapshotDigest {
  const first = firstPlacements(snapshot.placements);
  const pieces = Object.fromEntries(
    SNAPSHOT_LISTS.map((list) => [list, piecesOf(snapshot[list], list === 'placements' ? first : [])]),
  ) as unknown as SnapshotDigest['pieces'];
  const hashes = SNAPSHOT_LISTS.map((list) => pieces[list].map((piece) => piece.hash));
  const { now, held } = snapshot;
  const parts = held === undefined ? (first.length === 0 ? [] : [first]) : [first, sortedHeld(held)];
  return { hash: sha256(JSON.stringify([now, hashes, ...parts])).slice(0, 32), now, first, held, pieces };
}

function sortedHeld(held: NonNullable<Snapshot['held']>): readonly (readonly [string, readonly string[]])[] {
  return Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** About one millisecond of work. */
const AT_ONCE = 32;

/**
 * Computes the digests of a snapshot's objects before its first record, a few at a time. Otherwise
 * 10,000 objects would block the process for a third of a second.
 */
export async function warmSnapshotDigest(snapshot: Snapshot, signal: AbortSignal): Promise<void> {
  let digested = 0;
  for (const list of SNAPSHOT_LISTS)
    for (const object of snapshot[list]) {
      digestOf(object);
      pieceOf(snapshotObjectKey(object));
      if (++digested % AT_ONCE > 0) continue;
      await nextTurn();
      if (signal.aborted) return;
    }
}

/** `namespace/name`, by which snapshots are sorted. */
export function snapshotObjectKey({ metadata }: SnapshotObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

/** The keys of the placements that come before the sorted ones. */
function firstPlacements(placements: readonly SnapshotObject[]): readonly string[] {
  let sortedFrom = Math.max(0, placements.length - 1);
  const keyAt = (at: number): string => snapshotObjectKey(placements[at] as SnapshotObject);
  while (sortedFrom > 0 && keyAt(sortedFrom - 1) < keyAt(sortedFrom)) sortedFrom--;
  return placements.slice(0, sortedFrom).map(snapshotObjectKey);
}

function piecesOf(objects: readonly SnapshotObject[], first: readonly string[]): readonly SnapshotPiece[] {
  const buckets = Array.from({ length: PIECES }, (): SnapshotObject[] => []);
  for (const object of objects) buckets[pieceOf(snapshotObjectKey(object))]?.push(object);
  // Whether an object is listed first or not, it belongs to the same piece.
  for (const piece of new Set(first.map(pieceOf)))
    buckets[piece]?.sort((a, b) => (snapshotObjectKey(a) < snapshotObjectKey(b) ? -1 : 1));
  return buckets.map((bucket) => ({
    hash: sha256(bucket.map(digestOf).join('\n')).slice(0, 32),
    objects: bucket,
  }));
}

function digestOf(object: SnapshotObject): string {
  let known = objectDigests.get(object);
  if (known === undefined) objectDigests.set(object, (known = sha256(canonicalJson(object))));
  return known;
}

function pieceOf(key: string): number {
  let number = pieceNumbers.get(key);
  if (number === undefined) {
    number = Number.parseInt(sha256(key).slice(0, 4), 16) % PIECES;
    // Bounds the table, because names change over time.
    if (pieceNumbers.size > 200_000) pieceNumbers.clear();
    pieceNumbers.set(key, number);
  }
  return number;
}
