import type { PullRequestForge } from '@berth/forge/contract/pull-request-forge';
import { sha256 } from '@berth/runtime/sha256';
import type { PreviewMemory } from './preview-memory.ts';

/** The text that marks the comment of a source's preview, inside an HTML comment. */
export function previewMarker(source: string): string {
  return `berth:preview:${source}`;
}

/**
 * Sets the one comment of a preview to this text. Edits the existing comment, or writes a new one. Retires further
 * comments of ours, which two processes may have written.
 * @param marker a text that only this comment contains; `text` must contain it
 * @throws the errors of the forge
 */
export async function writeStickyComment(
  forge: PullRequestForge,
  target: { readonly number: number; readonly marker: string; readonly known: PreviewMemory['comment'] },
  text: string,
  signal: AbortSignal,
): Promise<NonNullable<PreviewMemory['comment']>> {
  const { number, marker, known } = target;
  const digest = sha256(text);
  if (known?.digest === digest) return known;
  if (known !== undefined && (await forge.editComment(number, known.id, text, signal)))
    return { id: known.id, digest };
  const [first, ...others] = await forge.ownComments(number, marker, signal);
  for (const { id } of others) await forge.retireComment(number, id, signal);
  if (
    first !== undefined &&
    (first.text === text || (await forge.editComment(number, first.id, text, signal)))
  )
    return { id: first.id, digest };
  return { id: await forge.addComment(number, text, signal), digest };
}
