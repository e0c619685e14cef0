import type { Digest } from '../publish/approval/plan-token.ts';

/** Characters of a mark. */
const LENGTH = 10;

/**
 * A short digest of an object's name, for the annotations of an ApplySet parent, in which full
 * names would need too much space.
 */
export function objectMark(digest: Digest, name: string): string {
  return digest(name).slice(0, LENGTH);
}

/** Marks that are written one after another. */
export function splitMarks(text: string): readonly string[] {
  return text.match(new RegExp(`.{${LENGTH}}`, 'g')) ?? [];
}
