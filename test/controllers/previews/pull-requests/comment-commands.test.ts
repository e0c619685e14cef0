import { expect, it } from 'vitest';
import {
  NO_MEMORY,
  type PreviewMemory,
} from '../../../../src/controllers/previews/pull-requests/preview-memory.ts';
import { noteCommand } from '../../../../src/controllers/previews/pull-requests/comment-commands.ts';
import { sha256 } from '@berth/runtime/sha256';
import { jointCode } from '../../../../src/core/publish/approval/approval-code.ts';
import type { CommentCommand } from '../../../../src/core/preview/comment/comment-command.ts';

const [HELD, DELETED, OTHER, PAST] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(12)) as [
  string,
  string,
  string,
  string,
];
const web = { placement: 'team-a/web', before: ['c1'], after: [], heldToken: HELD };
const memory: PreviewMemory = {
  ...NO_MEMORY,
  head: 'f'.repeat(40),
  base: 'e'.repeat(40),
  expected: [web],
  heldDeletions: [{ source: 'fleet', token: DELETED }],
  approvals: [{ token: DELETED, by: 'eve' }],
  pastCodes: [PAST],
};
const BOTH = jointCode(sha256, [HELD, DELETED]) ?? '';
const one = { ...memory, heldDeletions: [] };
const approve = (...codes: readonly string[]): CommentCommand => ({ kind: 'approve', codes });
const PULL = { author: 'ada', headCommit: 'f'.repeat(40), state: 'open' } as const;

it.each<{
  name: string;
  command: CommentCommand;
  before?: PreviewMemory;
  author?: string;
  permission?: 'write' | 'admin';
  approvers?: 'write' | 'admin';
  selfApproval?: boolean;
  state?: 'open' | 'merged' | 'closed';
  /** What it approves; absent: it is refused. */
  approves?: readonly string[];
  says: string;
}>([
  {
    name: 'an approval of two changes',
    command: approve(HELD, DELETED),
    approves: [HELD, DELETED],
    says: 'Approved. Berth does this after the merge:\n\n- `team-a/web` leaves `c1`\n- the deletions of source `fleet` are made',
  },
  {
    name: 'an approval of all that is held, by one code',
    command: approve(BOTH),
    approves: [HELD, DELETED],
    says: 'Approved. Berth does this after the merge',
  },
  {
    name: 'an approval by one code of what is not held any more',
    command: approve(BOTH),
    before: one,
    says: `\`${BOTH}\` is not the approval code`,
  },
  {
    name: 'an approval of the only change, without its code',
    command: approve(),
    before: one,
    approves: [HELD],
    says: 'Approved. Berth does this after the merge:\n\n- `team-a/web` leaves `c1`',
  },
  {
    name: 'an approval without a code, where two changes are held',
    command: approve(),
    says: `more than one change is held. To approve all of these, write \`/berth approve ${BOTH}\`:\n\n- \`team-a/web\` leaves \`c1\`\n`,
  },
  {
    name: 'an approval without a code, where nothing is held',
    command: approve(),
    before: { ...one, expected: [] },
    says: 'This plan would hold nothing.',
  },
  {
    name: 'an approval of something else, of which nothing counts',
    command: approve(HELD, OTHER),
    says: `Not approved: \`${OTHER}\` is not the approval code of a change that this plan would hold.`,
  },
  {
    name: 'an approval with the code of an earlier plan',
    command: approve(PAST),
    before: one,
    says: `\`${PAST}\` is the code of an earlier plan. What would be held is another change now. To approve that \`team-a/web\` leaves \`c1\`, write \`/berth approve ${HELD}\`.`,
  },
  {
    name: 'an approval before there is a plan',
    command: approve(HELD),
    before: NO_MEMORY,
    says: 'There is no plan yet, so nothing can be approved. Write `/berth plan` first.',
  },
  {
    name: 'an approval by the author',
    command: approve(HELD),
    author: 'ada',
    says: 'You opened this pull request and may not approve it.',
  },
  {
    name: 'an approval by the author, who may',
    command: approve(HELD),
    author: 'ada',
    selfApproval: true,
    approves: [HELD],
    says: 'Approved.',
  },
  {
    name: 'an approval by somebody who only writes, where administrators approve',
    command: approve(HELD),
    approvers: 'admin',
    says: 'only an administrator of the repository may',
  },
  {
    name: 'an approval by an administrator',
    command: approve(HELD),
    approvers: 'admin',
    permission: 'admin',
    approves: [HELD],
    says: 'Approved.',
  },
  {
    name: 'an approval after the merge',
    command: approve(HELD),
    state: 'merged',
    approves: [HELD],
    says: 'Approved. Berth does this now',
  },
  {
    name: 'an approval of a closed pull request',
    command: approve(HELD),
    state: 'closed',
    says: 'This pull request is closed. Open it again first.',
  },
  {
    name: 'a plan of what is merged',
    command: { kind: 'plan' },
    state: 'merged',
    says: 'there is nothing to plan',
  },
  {
    name: 'a near miss',
    command: { kind: 'unknown', meant: `/berth approve ${HELD}` },
    says: `Did you mean \`/berth approve ${HELD}\`?`,
  },
  {
    name: 'what is no command',
    command: { kind: 'unknown' },
    says: 'Berth does not know this command.\n\nBerth reads the first line',
  },
])('answers $name', (given) => {
  const { before = memory, command, author = 'grace', permission = 'write', approves, says } = given;
  const rules = { approvers: given.approvers ?? 'write', selfApproval: given.selfApproval ?? false } as const;
  const by = `${author} (id)`;
  const pull = { ...PULL, state: given.state ?? 'open' };
  const noted = noteCommand(before, { command, author, by, permission }, pull, rules);
  expect(noted.text).toContain(says);
  expect(noted.reaction).toBe(approves === undefined ? 'refused' : 'accepted');
  if (approves === undefined) return expect(noted.memory).toBe(before);
  const others = before.approvals.filter(({ token }) => !approves.includes(token));
  const approvals = [...others, ...approves.map((token) => ({ token, by }))];
  expect(noted.memory).toEqual({ ...before, approvals, asked: 1 });
});

it('remembers a wish for a plan, which also allows the head of a fork, and answers help without a plan', () => {
  const given = { author: 'grace', by: 'grace', permission: 'write' } as const;
  const rules = { approvers: 'write', selfApproval: false } as const;
  const planned = noteCommand(memory, { ...given, command: { kind: 'plan' } }, PULL, rules);
  expect(planned.memory).toEqual({ ...memory, asked: 1, allowedHead: PULL.headCommit });
  const helped = noteCommand(memory, { ...given, command: { kind: 'help' } }, PULL, rules);
  expect(helped.memory).toBe(memory);
  expect(helped.text).toContain('`/berth approve CODE`');
});
