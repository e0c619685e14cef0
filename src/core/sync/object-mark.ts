import type { Digest } from '../publish/approval/plan-token.ts';

/** Characters of a mark. */
const LENGTH = 10;

/** Stands for an object where its whole name would take too much room: on the parent of an ApplySet. */
export function objectMark(digest: Digest, name: string): string {
  return digest(name).slice(0, LENGTH);
}

/** Marks that stand one after another. */
export function splitMarks(text: string): readonly string[] {
  return text.match(new RegExp(`.{${LENGTH}}`, 'g')) ?? [];
}
