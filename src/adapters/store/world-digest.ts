import { createHash } from 'node:crypto';
import type { World } from '../../core/snapshot/world.ts';
import { canonicalJson } from '../../core/model/json-equal.ts';

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

/** The hash of a world and the pieces it is made of. */
export interface WorldDigest {
  readonly hash: string;
  readonly now: string;
  readonly pieces: Readonly<Record<WorldList, readonly WorldPiece[]>>;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Objects keep their identity while they do not change, so their digests are remembered. */
const objectDigests = new WeakMap<object, string>();
const pieceNumbers = new Map<string, number>();

export function digestWorld(world: World): WorldDigest {
  const pieces = Object.fromEntries(
    WORLD_LISTS.map((list) => [list, piecesOf(world[list])]),
  ) as unknown as WorldDigest['pieces'];
  const hashes = WORLD_LISTS.map((list) => pieces[list].map((piece) => piece.hash));
  return { hash: sha256(JSON.stringify([world.now, hashes])).slice(0, 32), now: world.now, pieces };
}

function piecesOf(objects: readonly WorldObject[]): readonly WorldPiece[] {
  const buckets = Array.from({ length: PIECES }, (): WorldObject[] => []);
  for (const object of objects) buckets[pieceOf(object)]?.push(object);
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

function pieceOf({ metadata }: WorldObject): number {
  const key = `${metadata.namespace ?? ''}/${metadata.name}`;
  let number = pieceNumbers.get(key);
  if (number === undefined) {
    number = Number.parseInt(sha256(key).slice(0, 4), 16) % PIECES;
    // Names come and go for ever; the table must not.
    if (pieceNumbers.size > 200_000) pieceNumbers.clear();
    pieceNumbers.set(key, number);
  }
  return number;
}
