import { expect, it } from 'vitest';
import {
  NO_MEMORY,
  type PreviewMemory,
} from '../../../../src/controllers/previews/pull-requests/preview-memory.ts';
import { noteCommand } from '../../../../src/controllers/previews/pull-requests/pull-request-previews.ts';
import type { CommentCommand } from '../../../../src/core/preview/comment/comment-command.ts';

const [HELD, DELETED, OTHER] = ['a', 'b', 'c'].map((digit) => digit.repeat(12)) as [string, string, string];
const memory: PreviewMemory = {
  ...NO_MEMORY,
  expected: [{ placement: 'team-a/web', before: ['c1'], after: [], heldToken: HELD }],
  heldDeletions: [{ source: 'fleet', token: DELETED }],
  approvals: [{ token: DELETED, by: 'eve' }],
  refusal: 'an earlier one',
};
const approve = (...codes: readonly string[]): CommentCommand => ({ kind: 'approve', codes });
const PULL = { author: 'ada', headCommit: 'f'.repeat(40) };

it.each<{
  name: string;
  command: CommentCommand;
  author?: string;
  permission?: 'write' | 'admin';
  approvers?: 'write' | 'admin';
  selfApproval?: boolean;
  want: object;
}>([
  {
    name: 'a wish for a plan, which also allows the head of a fork',
    command: { kind: 'plan' },
    want: { allowedHead: PULL.headCommit, refusal: undefined, approvals: memory.approvals },
  },
  {
    name: 'an approval of two changes, each by whom it was given last',
    command: approve(HELD, DELETED),
    want: { approvals: [HELD, DELETED].map((code) => ({ token: code, by: 'grace' })), refusal: undefined },
  },
  {
    name: 'an approval of something else, of which nothing counts',
    command: approve(HELD, OTHER),
    want: {
      approvals: memory.approvals,
      refusal: expect.stringContaining(`${OTHER} is not the approval code`),
    },
  },
  {
    name: 'an approval by the author',
    command: approve(HELD),
    author: 'ada',
    want: { approvals: memory.approvals, refusal: 'ada opened this pull request and may not approve it.' },
  },
  {
    name: 'an approval by the author, who may',
    command: approve(HELD),
    author: 'ada',
    selfApproval: true,
    want: { approvals: [...memory.approvals, { token: HELD, by: 'ada' }] },
  },
  {
    name: 'an approval by somebody who only writes, where administrators approve',
    command: approve(HELD),
    approvers: 'admin',
    want: { approvals: memory.approvals, refusal: expect.stringContaining('only an administrator') },
  },
  {
    name: 'an approval by an administrator',
    command: approve(HELD),
    approvers: 'admin',
    permission: 'admin',
    want: { approvals: [...memory.approvals, { token: HELD, by: 'grace' }] },
  },
  {
    name: 'what is no command',
    command: { kind: 'unknown' },
    want: { approvals: memory.approvals, refusal: expect.stringContaining('The commands are: /berth plan') },
  },
])('remembers $name', (given) => {
  const { command, author = 'grace', permission = 'write', want } = given;
  const rules = { approvers: given.approvers ?? 'write', selfApproval: given.selfApproval ?? false } as const;
  const after = noteCommand(memory, { command, author, by: author, permission }, PULL, rules);
  expect(after).toMatchObject({ ...want, asked: 1, expected: memory.expected });
});
