import type { PullRequest, RepositoryPermission } from '../../../core/ports.ts';
import type { CommentCommand } from '../../../core/preview/comment/comment-command.ts';
import type { PreviewRules } from '../../../core/preview/preview-rules.ts';
import type { PreviewRecord } from './preview-record.ts';

/** A command, and who gave it. */
export interface GivenCommand {
  readonly command: CommentCommand;
  /** As the forge names the account. */
  readonly author: string;
  /** The same for people. */
  readonly by: string;
  readonly permission: RepositoryPermission;
}

/** What is remembered of a pull request after a command of somebody who may write: what was asked for, approved, or refused and why. */
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
    return refused('A command was not understood. There are: /berth plan, /berth approve TOKEN.');
  if (rules.approvers === 'admin' && permission !== 'admin')
    return refused(`${by} may not approve: that takes an administrator of the repository.`);
  if (!rules.selfApproval && author === pull.author)
    return refused(`${by} opened this pull request and may not approve it.`);
  const { tokens } = command;
  const known = [
    ...record.expected.map(({ heldToken }) => heldToken),
    ...record.heldDeletions.map(({ token }) => token),
  ];
  const unknown = tokens.filter((token) => !known.includes(token));
  if (unknown.length > 0)
    return refused(`Not approved: ${unknown.join(', ')} is no token of a change that this plan would hold.`);
  const others = record.approvals.filter(({ token }) => !tokens.includes(token));
  const approvals = [...others, ...tokens.map((token) => ({ token, by }))];
  return { ...record, asked, approvals, refusal: undefined };
}
