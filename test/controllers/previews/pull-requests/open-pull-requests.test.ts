import { beforeEach, describe, expect, it } from 'vitest';
import { OpenPullRequests } from '../../../../src/controllers/previews/pull-requests/open-pull-requests.ts';
import {
  NO_RECORD,
  type PreviewRecord,
} from '../../../../src/controllers/previews/pull-requests/preview-record.ts';
import { PreviewStatuses } from '../../../../src/controllers/previews/pull-requests/preview-statuses.ts';
import type { PullRequestPreviewsOptions } from '../../../../src/controllers/previews/pull-requests/pull-request-options.ts';
import type { CommitStatus, PullRequest } from '../../../../src/core/ports.ts';
import type { CommentApproval } from '../../../../src/core/preview/comment/preview-outcome.ts';
import { move, placementPlan, plan, planned } from '../../../core/preview/comment/comment-fixture.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { SilentLogger } from '../../../fakes/silent-logger.ts';

const [HELD, DELETED, EARLIER] = ['a', 'b', 'c'].map((digit) => digit.repeat(12)) as [string, string, string];
const PULL: PullRequest = {
  number: 7,
  state: 'open',
  draft: false,
  author: 'ada',
  fromFork: false,
  baseBranch: 'main',
  headCommit: 'f'.repeat(40),
  mergeCommit: undefined,
};
const BASE = 'e'.repeat(40);
const signal = new AbortController().signal;
const by = (token: string): CommentApproval => ({ token, by: `who approved ${token}` });

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

describe('the approvals of a pull request', () => {
  let record: PreviewRecord;
  let comments: string[];
  let statuses: CommitStatus[];
  let outcome: Awaited<ReturnType<PullRequestPreviewsOptions['plan']>>['outcome'];
  /** What happens while the comment is written. */
  let meanwhile: () => void;
  let open: OpenPullRequests;
  beforeEach(() => {
    [record, comments, statuses] = [NO_RECORD, [], []];
    [outcome, meanwhile] = [planned(HELD_PLAN), () => undefined];
    const options = {
      source: 'fleet',
      repositoryName: 'team/fleet',
      rules: { drafts: true, forks: 'off' },
      repository: { fetchBranch: () => Promise.resolve(BASE) },
      forge: {
        maxCommentLength: 60_000,
        ownComments: () => Promise.resolve([]),
        addComment: (_number: number, text: string) => {
          meanwhile();
          comments.push(text);
          return Promise.resolve('1');
        },
        writeStatus: (status: CommitStatus) => Promise.resolve(void statuses.push(status)),
      },
      plan: () => Promise.resolve({ outcome, map: undefined, expected: [] }),
      whenPublished: () => Promise.resolve(),
      hubState: () => 'as it is',
      records: {
        get: () => record,
        set: (_number: string, next: PreviewRecord) => (record = next),
      },
      reports: { write: () => Promise.resolve(), linksTo: () => undefined },
      knownRules: undefined,
      clock: new FakeClock(),
      log: new SilentLogger(),
    } as unknown as PullRequestPreviewsOptions;
    open = new OpenPullRequests(options, new PreviewStatuses(options));
  });
  const preview = () => open.preview(PULL, signal);
  const approvals = () => record.approvals.map(({ token }) => token);

  it('count for the changes of this plan, and for no other', async () => {
    record = { ...NO_RECORD, approvals: [by(EARLIER), by(HELD), by(DELETED)] };
    await preview();
    expect(approvals()).toEqual([HELD, DELETED]);
    expect(comments[0]).toContain(`who approved ${HELD}`);
    expect(comments[0]).not.toContain(`who approved ${EARLIER}`);
    expect(statuses.at(-1)).toMatchObject({ state: 'success' });
  });

  it('of an earlier plan alone leave the changes held', async () => {
    record = { ...NO_RECORD, approvals: [by(EARLIER)] };
    await preview();
    expect(approvals()).toEqual([]);
    expect(statuses.at(-1)).toMatchObject({ state: 'failure' });
  });

  it('that come while the comment is written count if they are for this plan', async () => {
    meanwhile = () => (record = { ...record, approvals: [by(EARLIER), by(DELETED)] });
    await preview();
    expect(approvals()).toEqual([DELETED]);
  });

  it('end with the plan', async () => {
    record = { ...NO_RECORD, approvals: [by(HELD)] };
    outcome = { kind: 'unplanned', message: 'the commits conflict' };
    await preview();
    expect(approvals()).toEqual([]);
  });
});
