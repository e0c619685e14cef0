import { setImmediate as nextTurn } from 'node:timers/promises';
import type { World } from '../../core/snapshot/world.ts';
import { canonicalJson } from '../../core/model/json-equal.ts';
import { sha256 } from '../../runtime/sha256.ts';

/** Lists of a world, in the order of the manifest. */
export const WORLD_LISTS = [
  'placements',
  'clusters',
  'clusterSets',
  'bindings',
  'decisions',
  'scores',
] as const;
export type WorldList = (typeof WORLD_LISTS)[number];

/** Objects are kept in this many pieces per list: one changed object rewrites one piece. */
const PIECES = 16;

interface WorldObject {
  readonly metadata: { readonly namespace?: string | undefined; readonly name: string };
}

/** One piece of one list: its hash covers its content. */
export interface WorldPiece {
  readonly hash: string;
  readonly objects: readonly WorldObject[];
}

/** The hash of a world and what it is made of. */
export interface WorldDigest {
  readonly hash: string;
  readonly now: string;
  /** Keys of the placements that are scheduled before the others; these, and all other lists, are in the order of their keys. */
  readonly first: readonly string[];
  /** See `World.held`. */
  readonly held: World['held'];
  /** Objects within a piece are in the order of their keys. */
  readonly pieces: Readonly<Record<WorldList, readonly WorldPiece[]>>;
}

/** Objects keep their identity while they do not change, so their digests are remembered. */
const objectDigests = new WeakMap<object, string>();
const pieceNumbers = new Map<string, number>();

/** @param world listed in the order of keys; some placements may be listed before the others, in that order too */
export function digestWorld(world: World): WorldDigest {
  const first = aheadOfOrder(world.placements);
  const pieces = Object.fromEntries(
    WORLD_LISTS.map((list) => [list, piecesOf(world[list], list === 'placements' ? first : [])]),
  ) as unknown as WorldDigest['pieces'];
  const hashes = WORLD_LISTS.map((list) => pieces[list].map((piece) => piece.hash));
  const { now, held } = world;
  const parts = held === undefined ? (first.length === 0 ? [] : [first]) : [first, sortedHeld(held)];
  return { hash: sha256(JSON.stringify([now, hashes, ...parts])).slice(0, 32), now, first, held, pieces };
}

function sortedHeld(held: NonNullable<World['held']>): readonly (readonly [string, readonly string[]])[] {
  return Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A millisecond's worth. */
const AT_ONCE = 32;

/**
 * Digests the objects of a world ahead of its first record, a few at a time. Left to that record, 10,000 objects hold up everything
 * else for a third of a second.
 */
export async function digestAhead(world: World, signal: AbortSignal): Promise<void> {
  let digested = 0;
  for (const list of WORLD_LISTS)
    for (const object of world[list]) {
      digestOf(object);
      pieceOf(worldKey(object));
      if (++digested % AT_ONCE > 0) continue;
      await nextTurn();
      if (signal.aborted) return;
    }
}

/** `namespace/name`; worlds are ordered by it. */
export function worldKey({ metadata }: WorldObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function aheadOfOrder(placements: readonly WorldObject[]): readonly string[] {
  let others = Math.max(0, placements.length - 1);
  const keyAt = (at: number): string => worldKey(placements[at] as WorldObject);
  while (others > 0 && keyAt(others - 1) < keyAt(others)) others--;
  return placements.slice(0, others).map(worldKey);
}

function piecesOf(objects: readonly WorldObject[], first: readonly string[]): readonly WorldPiece[] {
  const buckets = Array.from({ length: PIECES }, (): WorldObject[] => []);
  for (const object of objects) buckets[pieceOf(worldKey(object))]?.push(object);
  // Listed first or not: the same objects are the same piece.
  for (const piece of new Set(first.map(pieceOf)))
    buckets[piece]?.sort((a, b) => (worldKey(a) < worldKey(b) ? -1 : 1));
  return buckets.map((bucket) => ({
    hash: sha256(bucket.map(digestOf).join('\n')).slice(0, 32),
    objects: bucket,
  }));
}

function digestOf(object: WorldObject): string {
  let known = objectDigests.get(object);
  if (known === undefined) objectDigests.set(object, (known = sha256(canonicalJson(object))));
  return known;
}

function pieceOf(key: string): number {
  let number = pieceNumbers.get(key);
  if (number === undefined) {
    number = Number.parseInt(sha256(key).slice(0, 4), 16) % PIECES;
    // Names come and go forever; the table must not.
    if (pieceNumbers.size > 200_000) pieceNumbers.clear();
    pieceNumbers.set(key, number);
  }
  return number;
}
