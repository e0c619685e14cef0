import type { PullRequest, RepositoryPermission } from '@berth/forge/contract/pull-request-forge';
import type { CommentCommand } from '../../../core/preview/comment/comment-command.ts';
import type { PreviewRules } from '../../../core/preview/preview-rules.ts';
import type { PreviewRecord } from './preview-record.ts';

/** A command and its author. */
export interface GivenCommand {
  readonly command: CommentCommand;
  /** The account, as the forge names it. */
  readonly author: string;
  /** The name for display. */
  readonly by: string;
  readonly permission: RepositoryPermission;
}

/**
 * The record of a pull request after a command of an account with write access. It contains what was requested or
 * approved, or why the command was refused.
 */
export function recordCommand(
  record: PreviewRecord,
  { command, author, by, permission }: GivenCommand,
  pull: Pick<PullRequest, 'author' | 'headCommit'>,
  rules: Pick<PreviewRules, 'approvers' | 'selfApproval'>,
): PreviewRecord {
  const asked = record.asked + 1;
  const refused = (refusal: string): PreviewRecord => ({ ...record, asked, refusal });
  if (command.kind === 'plan') return { ...record, asked, refusal: undefined, allowedHead: pull.headCommit };
  if (command.kind === 'unknown')
    return refused('The command is unknown. The commands are: /berth plan, /berth approve TOKEN.');
  if (rules.approvers === 'admin' && permission !== 'admin')
    return refused(`${by} may not approve: only an administrator of the repository may.`);
  if (!rules.selfApproval && author === pull.author)
    return refused(`${by} opened this pull request and may not approve it.`);
  const { tokens } = command;
  const known = [
    ...record.expected.map(({ heldToken }) => heldToken),
    ...record.heldDeletions.map(({ token }) => token),
  ];
  const unknown = tokens.filter((token) => !known.includes(token));
  if (unknown.length > 0)
    return refused(
      `Not approved: ${unknown.join(', ')} is not a token of a change that this plan would hold.`,
    );
  const others = record.approvals.filter(({ token }) => !tokens.includes(token));
  const approvals = [...others, ...tokens.map((token) => ({ token, by }))];
  return { ...record, asked, approvals, refusal: undefined };
}
