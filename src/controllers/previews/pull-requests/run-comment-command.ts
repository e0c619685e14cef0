import { InputError } from '@berth/runtime/errors';
import type { PullRequestForge, RepositoryPermission } from '@berth/forge/contract/pull-request-forge';
import { commentCommand } from '../../../core/preview/comment/comment-command.ts';
import type { PreviewRecord } from './preview-record.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';
import { recordCommand } from './record-command.ts';
import type { PullRequestComment } from './reported-events.ts';

/**
 * Reads a comment that may contain a command. A command counts only if its author may write to the repository.
 * @returns the changed fields of the record of the pull request; undefined if nothing changes
 * @throws the errors of the forge
 */
export async function runCommentCommand(
  { forge, rules }: Pick<PullRequestPreviewsOptions, 'forge' | 'rules'>,
  { number, author, authorName, text }: PullRequestComment,
  signal: AbortSignal,
): Promise<((record: PreviewRecord) => PreviewRecord) | undefined> {
  const command = commentCommand(text);
  if (command === undefined) return undefined;
  const permission = await permissionOf(forge, author, signal);
  // A comment of an account without write access changes nothing, and is not even noted.
  if (permission !== 'write' && permission !== 'admin') return undefined;
  const pull = await forge.read(number, signal);
  if (pull === undefined) return undefined;
  // An id alone tells readers nothing, and a name alone is not unique.
  const by = authorName === undefined ? author : `${authorName} (${author})`;
  return (record) => recordCommand(record, { command, author, by, permission }, pull, rules);
}

async function permissionOf(
  forge: Pick<PullRequestForge, 'permissionOf'>,
  author: string,
  signal: AbortSignal,
): Promise<RepositoryPermission> {
  try {
    return await forge.permissionOf(author, signal);
  } catch (cause) {
    if (!(cause instanceof InputError) || cause.code !== 'scm.auth') throw cause;
    const { code, subject } = cause;
    throw new InputError(
      `a command of ${author} is ignored: the token may not ask the forge what this account may do`,
      {
        ...{ code, subject, cause },
        hint: 'give the account of the token the right in the last column of the table in docs/previews.md#rights',
      },
    );
  }
}
