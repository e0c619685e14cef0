import { beforeEach, describe, expect, it } from 'vitest';
import { OpenPullRequests } from '../../../../src/controllers/previews/pull-requests/open-pull-requests.ts';
import {
  NO_MEMORY,
  type PreviewMemory,
} from '../../../../src/controllers/previews/pull-requests/preview-memory.ts';
import { PreviewStatuses } from '../../../../src/controllers/previews/pull-requests/preview-statuses.ts';
import type { PullRequestPreviewsOptions } from '../../../../src/controllers/previews/pull-requests/pull-request-options.ts';
import type { CommitStatus, PullRequest } from '@berth/forge/contract/pull-request-forge';
import type { CommentApproval } from '../../../../src/core/preview/plan.ts';
import { move, placementPlan, plan, planned } from '../../../core/preview/comment/comment-fixture.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { whenIdle } from '@berth/test-kit/when-idle';

const [HELD, DELETED, EARLIER] = ['a', 'b', 'c'].map((digit) => digit.repeat(12)) as [string, string, string];
const PULL: PullRequest = {
  number: 7,
  state: 'open',
  draft: false,
  author: 'ada',
  authorName: 'Ada',
  title: 'Move web',
  url: 'https://forge.test/team/fleet/pulls/7',
  fromFork: false,
  baseBranch: 'main',
  headCommit: 'f'.repeat(40),
  mergeCommit: undefined,
};
const BASE = 'e'.repeat(40);
const signal = new AbortController().signal;
const by = (code: string): CommentApproval => ({ token: code, by: `who approved ${code}` });

/** A move that would be held, and deletions that would be held. */
const HELD_PLAN = plan({
  placements: [
    placementPlan('team-a/web', {
      removed: [move('c1'), move('c2')],
      token: HELD,
      held: { reason: 'RemovalBudgetExceeded', message: 'it would remove 2 of 2' },
    }),
  ],
  deletionsHeld: [{ source: 'fleet', message: 'it would delete 3 objects', token: DELETED }],
});

const HOW = 'Who may write to this repository can comment /berth plan';

describe('an open pull request', () => {
  let memory: PreviewMemory;
  let comments: string[];
  let statuses: CommitStatus[];
  let outcome: Awaited<ReturnType<PullRequestPreviewsOptions['plan']>>['outcome'];
  /** What happens while the comment is written. */
  let meanwhile: () => void;
  let open: OpenPullRequests;
  let onDisk: Promise<void>;
  let rules: { drafts: boolean; forks: 'off' | 'summary' };
  let plans: number;
  let hubState: string;
  let followed: string | undefined;
  let clock: FakeClock;
  let queued: number[];
  beforeEach(() => {
    [memory, comments, statuses] = [NO_MEMORY, [], []];
    onDisk = Promise.resolve();
    [outcome, meanwhile] = [planned(HELD_PLAN), () => undefined];
    [followed, clock, queued] = [BASE, new FakeClock(), []];
    [rules, plans, hubState] = [{ drafts: true, forks: 'off' }, 0, 'as it is'];
    const options = {
      source: 'fleet',
      repositoryName: 'team/fleet',
      get rules() {
        return rules;
      },
      repository: { fetchBranch: () => Promise.resolve(BASE) },
      forge: {
        maxCommentLength: 60_000,
        ownComments: () => Promise.resolve([]),
        addComment: (_number: number, text: string) => {
          meanwhile();
          comments.push(text);
          return Promise.resolve('1');
        },
        editComment: (_number: number, _id: string, text: string) => {
          comments.push(text);
          return Promise.resolve(true);
        },
        writeStatus: (status: CommitStatus) => Promise.resolve(void statuses.push(status)),
      },
      plan: () => {
        plans += 1;
        return Promise.resolve({ outcome, map: undefined, expected: [] });
      },
      whenPublished: () => Promise.resolve(),
      hubState: () => hubState,
      memories: {
        get: () => memory,
        set: (_number: string, next: PreviewMemory) => (memory = next),
        persist: async (_number: string, next: PreviewMemory) => {
          memory = next;
          await onDisk;
        },
      },
      reports: { write: () => Promise.resolve(), merged: () => Promise.resolve(), linksTo: () => undefined },
      knownRules: undefined,
      queue: { addAfter: (_key: object, delayMs: number) => void queued.push(delayMs) },
      clock,
      log: new SilentLogger(),
    } as unknown as PullRequestPreviewsOptions;
    open = new OpenPullRequests(options, new PreviewStatuses(options), () => followed);
  });
  const preview = (pull = PULL) => open.preview(pull, signal);
  const approvals = () => memory.approvals.map(({ token: code }) => code);

  it('has approvals that count for the changes of this plan, and for no other', async () => {
    memory = { ...NO_MEMORY, approvals: [by(EARLIER), by(HELD), by(DELETED)] };
    await preview();
    expect(approvals()).toEqual([HELD, DELETED]);
    expect(comments[0]).toContain(`who approved ${HELD}`);
    expect(comments[0]).not.toContain(`who approved ${EARLIER}`);
    expect(statuses.at(-1)).toMatchObject({ state: 'success' });
  });

  it('waits for the hub to follow the base, but not forever', async () => {
    followed = 'd'.repeat(40);
    await preview();
    await preview();
    expect(plans).toBe(0);
    expect(comments).toEqual([]);
    expect(statuses).toMatchObject([
      { state: 'pending', description: `Waiting for the hub to follow ${BASE.slice(0, 12)}` },
    ]);
    expect(queued).toEqual([30_000, 30_000]);
    await clock.advance(30_000);
    await preview();
    expect(plans).toBe(1);
  });

  it('is planned at once when the hub follows the base', async () => {
    followed = undefined;
    await preview();
    followed = BASE;
    await preview();
    expect(plans).toBe(1);
    expect(statuses.at(-1)).toMatchObject({ state: 'failure' });
  });

  it('has its plan on the disk before anybody can read it', async () => {
    let saved = (): void => undefined;
    onDisk = new Promise((resolve) => (saved = resolve));
    const done = preview();
    await whenIdle(() => comments.length);
    expect(memory).toMatchObject({ head: PULL.headCommit, base: BASE });
    expect(comments).toEqual([]);
    saved();
    await done;
    expect(comments).toHaveLength(1);
  });

  it('stays held with approvals of an earlier plan alone', async () => {
    memory = { ...NO_MEMORY, approvals: [by(EARLIER)] };
    await preview();
    expect(approvals()).toEqual([]);
    expect(statuses.at(-1)).toMatchObject({ state: 'failure' });
  });

  it('keeps an approval that comes while the comment is written, if it is for this plan', async () => {
    meanwhile = () => (memory = { ...memory, approvals: [by(EARLIER), by(DELETED)] });
    await preview();
    expect(approvals()).toEqual([DELETED]);
  });

  it('loses its approvals with its plan', async () => {
    memory = { ...NO_MEMORY, approvals: [by(HELD)] };
    outcome = { kind: 'unplanned', message: 'the commits conflict' };
    await preview();
    expect(approvals()).toEqual([]);
  });

  it.each([
    ['whose head is in a fork', { fromFork: true }, `Not planned: the head is in a fork. ${HOW}`],
    ['that is a draft', { draft: true }, `Not planned: it is a draft. ${HOW}`],
  ])(
    '%s is not planned where the rules say so, unless somebody asks for this head',
    async (_name, over, why) => {
      rules = { drafts: false, forks: 'off' };
      const pull = { ...PULL, ...over };
      await preview(pull);
      await preview(pull);
      expect([plans, comments, statuses.map(({ description }) => description)]).toEqual([0, [], [why]]);
      memory = { ...memory, allowedHead: 'd'.repeat(40) };
      await preview(pull);
      expect(plans).toBe(0);
      memory = { ...memory, allowedHead: PULL.headCommit };
      await preview(pull);
      expect(plans).toBe(1);
      rules = { drafts: true, forks: 'summary' };
      memory = NO_MEMORY;
      await preview(pull);
      expect(plans).toBe(2);
    },
  );

  it('is planned once for each state: head, base, hub and wish', async () => {
    await preview();
    await preview();
    expect([plans, comments.length]).toEqual([1, 1]);
    // The same plan on a changed hub is not written again.
    hubState = 'another';
    const written = statuses.length;
    await preview();
    expect([plans, comments.length, statuses.length]).toEqual([2, 1, written]);
    memory = { ...memory, asked: 1 };
    await preview();
    expect(plans).toBe(3);
    await preview({ ...PULL, headCommit: 'd'.repeat(40) });
    expect(plans).toBe(4);
  });

  it('has its plan stored before the comment is written: a merge is compared with it after a crash', async () => {
    let stored: PreviewMemory | undefined;
    meanwhile = () => (stored = memory);
    await preview();
    expect(stored).toMatchObject({
      head: PULL.headCommit,
      base: BASE,
      planning: PULL.headCommit,
      statuses: undefined,
    });
  });
});
