import type { PullRequestForge } from '../../../core/ports.ts';
import { sha256 } from '../../../runtime/sha256.ts';
import type { PreviewRecord } from './preview-record.ts';

/** What the preview's comment of a source begins with, inside of an HTML comment. */
export function previewMarker(source: string): string {
  return `berth:preview:${source}`;
}

/**
 * Brings the one comment of a preview to this text: edits it in place, writes it where there is none, and retires others of ours
 * that two processes may have written.
 * @param marker a text that only this comment has, and that `text` contains
 * @throws as the forge does
 */
export async function writeStickyComment(
  forge: PullRequestForge,
  target: { readonly number: number; readonly marker: string; readonly known: PreviewRecord['comment'] },
  text: string,
  signal: AbortSignal,
): Promise<NonNullable<PreviewRecord['comment']>> {
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
