import { errorText, InputError, TransientError } from '@berth/runtime/errors';
import type {
  CommandReaction,
  CommitStatus,
  ForgeComment,
  PullRequest,
  PullRequestForge,
  RepositoryPermission,
} from '../contract/pull-request-forge.ts';
import type { ResponseFields } from '../request/response-fields.ts';
import { ForgeApi, ownComments, undefinedIfNotFound } from '../request/forge-api.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import { type NamedAccount, OwnAccount } from '../request/own-account.ts';
import { GITLAB_DIALECT } from './gitlab-dialect.ts';

/** GitLab accepts 1,000,000 characters, but a longer comment than GitHub allows is not readable. */
const MAX_COMMENT_LENGTH = 60_000;
const PAGES = ['per_page', 100] as const;
const NOTE = { id: ['id'], author: ['author', 'username'], text: ['body'] };

/** Names of emoji. Source: docs.gitlab.com/api/emoji_reactions. */
const REACTIONS = { accepted: 'thumbsup', refused: 'confused' } as const;

/** The lowest `access_level` of a member with each right. Source: docs.gitlab.com/api/members, "Roles". */
const LEVELS = [
  [40, 'admin'],
  [30, 'write'],
  [10, 'read'],
] as const;

/**
 * Merge requests of a project at GitLab. The token belongs to the project or to a group above it, with the role
 * Developer and the scope `api`.
 * Source: docs.gitlab.com/api/merge_requests, /notes ("Merge requests"), /commits ("Commit status"), /members, /users.
 */
export class GitLabForge implements PullRequestForge {
  readonly maxCommentLength = MAX_COMMENT_LENGTH;
  readonly #api: ForgeApi;
  readonly #repository: string;
  readonly #path: string;
  readonly #account: OwnAccount;

  constructor(repository: ForgeRepository, ownAccount?: NamedAccount) {
    this.#api = new ForgeApi(repository, GITLAB_DIALECT);
    this.#repository = repository.repository;
    this.#path = `/projects/${encodeURIComponent(repository.repository)}`;
    this.#account = new OwnAccount(this.#api, ownAccount, async (signal) =>
      (await this.#api.request(signal, 'GET', '/user')).text('username'),
    );
  }

  async defaultBranch(signal: AbortSignal): Promise<string> {
    const branch = (await this.#api.request(signal, 'GET', this.#path)).text('default_branch');
    if (branch === undefined) throw this.#api.badResponse('names no default branch');
    return branch;
  }

  async listOpen(signal: AbortSignal): Promise<readonly PullRequest[]> {
    const path = `${this.#path}/merge_requests?state=opened`;
    const all = await this.#api.numberedPages(signal, path, PAGES);
    // One that was just opened, or whose branch was deleted, may have no commit.
    return all.filter((one) => one.text('sha') !== undefined).map((one) => this.#mergeRequest(one));
  }

  async read(number: number, signal: AbortSignal): Promise<PullRequest | undefined> {
    const found = await undefinedIfNotFound(
      this.#api.request(signal, 'GET', `${this.#path}/merge_requests/${number}`),
    );
    return found && this.#mergeRequest(found);
  }

  async ownComments(number: number, marker: string, signal: AbortSignal): Promise<readonly ForgeComment[]> {
    const account = await this.#account.get(signal);
    const path = `${this.#notesPath(number)}?sort=asc&order_by=created_at`;
    const notes = await this.#api.numberedPages(signal, path, PAGES);
    return ownComments(notes, NOTE, account, marker);
  }

  async addComment(number: number, text: string, signal: AbortSignal): Promise<string> {
    const note = await this.#api.request(signal, 'POST', this.#notesPath(number), { body: text });
    const id = note.number('id');
    if (id === undefined) throw this.#api.badResponse('gave no id to a comment');
    return String(id);
  }

  async editComment(number: number, id: string, text: string, signal: AbortSignal): Promise<boolean> {
    const path = `${this.#notesPath(number)}/${encodeURIComponent(id)}`;
    return (await undefinedIfNotFound(this.#api.request(signal, 'PUT', path, { body: text }))) !== undefined;
  }

  /** GitLab cannot fold a comment, so it is deleted. */
  async retireComment(number: number, id: string, signal: AbortSignal): Promise<void> {
    const path = `${this.#notesPath(number)}/${encodeURIComponent(id)}`;
    await undefinedIfNotFound(this.#api.request(signal, 'DELETE', path));
  }

  /** An emoji that the note already has is refused as not found, like a note that is gone. */
  async react(
    number: number,
    comment: string,
    reaction: CommandReaction,
    signal: AbortSignal,
  ): Promise<void> {
    const path = `${this.#notesPath(number)}/${encodeURIComponent(comment)}/award_emoji`;
    const body = { name: REACTIONS[reaction] };
    await undefinedIfNotFound(this.#api.request(signal, 'POST', path, body));
  }

  async writeStatus(status: CommitStatus, signal: AbortSignal): Promise<void> {
    const { path, body } = GITLAB_DIALECT.status(this.#repository, status);
    const { pullRequest, state } = status;
    const write = (more: object = {}) => this.#api.request(signal, 'POST', path, { ...body, ...more });
    try {
      await write().catch((error: unknown) => {
        if (codeOf(error) !== 'scm.not-found' || pullRequest === undefined) throw error;
        // A commit of a fork is on no branch of this project. Only the merge request contains it.
        return write({ ref: `refs/merge-requests/${pullRequest}/head` });
      });
    } catch (error) {
      // GitLab locks the statuses of a commit, and gives up after ten seconds.
      const { subject } = this.#api;
      if (codeOf(error) === 'scm.conflict')
        throw new TransientError(errorText(error), { code: 'scm.unavailable', subject, cause: error });
      // Before 18.3, setting a status to its current state is an error.
      const mayBePending = codeOf(error) === 'scm.refused' && state === 'pending';
      if (!mayBePending || !(await this.#isPending(status, signal))) throw error;
    }
  }

  ownAccount(signal: AbortSignal): Promise<string> {
    return this.#account.get(signal);
  }

  async permissionOf(account: string, signal: AbortSignal): Promise<RepositoryPermission> {
    const path = `/users?username=${encodeURIComponent(account)}`;
    const users = (await this.#api.request(signal, 'GET', path)).list(this.#api.subject);
    const id = users.find((user) => user.text('username') === account)?.number('id');
    if (id === undefined) return 'none';
    // Includes rights inherited from the groups above.
    const member = await undefinedIfNotFound(
      this.#api.request(signal, 'GET', `${this.#path}/members/all/${id}`),
    );
    const level = member?.text('state') === 'active' ? (member.number('access_level') ?? 0) : 0;
    return LEVELS.find(([least]) => level >= least)?.[1] ?? 'none';
  }

  async #isPending({ commit, context }: CommitStatus, signal: AbortSignal): Promise<boolean> {
    const path = `${this.#path}/repository/commits/${commit}/statuses?name=${encodeURIComponent(context)}`;
    const statuses = (await this.#api.request(signal, 'GET', path)).list(this.#api.subject);
    return statuses.some((one) => one.text('name') === context && one.text('status') === 'pending');
  }

  #notesPath(number: number): string {
    return `${this.#path}/merge_requests/${number}/notes`;
  }

  #mergeRequest(one: ResponseFields): PullRequest {
    const [number, headCommit] = [one.number('iid'), one.text('sha')];
    const baseBranch = one.text('target_branch');
    if (number === undefined || headCommit === undefined || baseBranch === undefined)
      throw this.#api.badResponse('described a merge request without number, head or base');
    const [state, target] = [one.text('state'), one.number('target_project_id')];
    return {
      number,
      // A merge request that is being merged is `locked`.
      state: state === 'merged' || state === 'closed' ? state : 'open',
      draft: one.at('draft') === true || one.at('work_in_progress') === true,
      author: one.text('author', 'username') ?? '',
      authorName: one.text('author', 'username') ?? '',
      title: one.text('title') ?? '',
      url: one.text('web_url'),
      fromFork: target === undefined || one.number('source_project_id') !== target,
      baseBranch,
      headCommit,
      // A fast-forward creates no merge commit.
      mergeCommit:
        state === 'merged'
          ? (one.text('merge_commit_sha') ?? one.text('squash_commit_sha') ?? headCommit)
          : undefined,
    };
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof InputError ? error.code : undefined;
}
