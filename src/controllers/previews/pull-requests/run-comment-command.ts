import { commentCommand } from '../../../core/preview/comment/comment-command.ts';
import type { PreviewRecord } from './preview-record.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';
import { recordCommand } from './record-command.ts';
import type { PullRequestComment } from './reported-events.ts';

/**
 * Reads a comment that may be a command. It counts if the account has the right to write.
 * @returns what it changes of what is remembered of the pull request; undefined: nothing
 * @throws as the forge does
 */
export async function runCommentCommand(
  { forge, rules }: Pick<PullRequestPreviewsOptions, 'forge' | 'rules'>,
  { number, author, authorName, text }: PullRequestComment,
  signal: AbortSignal,
): Promise<((record: PreviewRecord) => PreviewRecord) | undefined> {
  const command = commentCommand(text);
  if (command === undefined) return undefined;
  const permission = await forge.permissionOf(author, signal);
  // Without the right to write a comment changes nothing, not even a note about it.
  if (permission !== 'write' && permission !== 'admin') return undefined;
  const pull = await forge.read(number, signal);
  if (pull === undefined) return undefined;
  // An id alone says nothing to people, a name alone may be anybody's.
  const by = authorName === undefined ? author : `${authorName} (${author})`;
  return (record) => recordCommand(record, { command, author, by, permission }, pull, rules);
}
