import { type Digest, addSpentCode } from '../publish/approval/approval-code.ts';
import {
  RELEASED_OBJECTS_ANNOTATION,
  SPENT_CODES_ANNOTATION,
} from '../publish/approval/publish-annotations.ts';

/** The releases of deletions that an ApplySet's parent stores. */
export interface PruneReleases {
  /** Codes that were released, oldest first: none of them counts again. */
  readonly spent: readonly string[];
  /** Hashes of the objects that were released and are not deleted yet. */
  readonly objects: ReadonlySet<string>;
}

type Annotations = Readonly<Record<string, string>>;

/**
 * Annotations are limited to 256 KiB. For more objects only the code is stored, and those that are
 * not deleted yet are held again.
 */
const MAX_HASHES = 20_000;

export function parsePruneReleases(annotations: Annotations): PruneReleases {
  const { [SPENT_CODES_ANNOTATION]: spent = '', [RELEASED_OBJECTS_ANNOTATION]: objects = '' } = annotations;
  return {
    spent: spent.split(',').filter((code) => code !== ''),
    objects: new Set(splitHashes(objects)),
  };
}

/** The hash of an object's formatted name, which is compared only within one release. */
export function releaseHash(digest: Digest, name: string): string {
  return nameHash(digest, name);
}

/** The annotations of a release that approves these deletions. They must be written before the first deletion. */
export function noteReleased({ spent }: PruneReleases, code: string, hashes: readonly string[]): Annotations {
  const codes = addSpentCode(spent, code) ?? [];
  return { [SPENT_CODES_ANNOTATION]: codes.join(','), ...noteRest(hashes) };
}

/** The remaining objects of the last release. */
export function noteRest(hashes: readonly string[]): Annotations {
  return { [RELEASED_OBJECTS_ANNOTATION]: hashes.length > MAX_HASHES ? '' : [...hashes].sort().join('') };
}

/** Characters of a hash. */
const LENGTH = 10;

/**
 * A short digest of an object's name, for the annotations of an ApplySet parent, in which full
 * names would need too much space.
 */
export function nameHash(digest: Digest, name: string): string {
  return digest(name).slice(0, LENGTH);
}

/** Hashes that are written one after another. */
export function splitHashes(text: string): readonly string[] {
  return text.match(new RegExp(`.{${LENGTH}}`, 'g')) ?? [];
}
