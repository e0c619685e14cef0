import { InputError } from '@berth/runtime/errors';
import type {
  CommitStatus,
  ForgeComment,
  PullRequest,
  PullRequestForge,
  RepositoryPermission,
} from '../contract/pull-request-forge.ts';
import { ResponseFields } from '../request/response-fields.ts';
import { ForgeApi, ownComments, undefinedIfNotFound } from '../request/forge-api.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import { type NamedAccount, OwnAccount } from '../request/own-account.ts';
import {
  BITBUCKET_DATA_CENTER_DIALECT,
  dataCenterPath,
  plainMarkdown,
  plainMarkerOf,
} from './bitbucket-dialect.ts';

/** Below the limit of 32,768 characters. */
const MAX_COMMENT_LENGTH = 32_000;
/** Attempts if somebody else changes the comment meanwhile. Each attempt reads its version again. */
const MAX_TRIES = 3;
const COMMENT = {
  ...{ id: ['comment', 'id'], author: ['comment', 'author', 'name'], text: ['comment', 'text'] },
};
const PERMISSIONS = [
  ['REPO_ADMIN', 'admin'],
  ['REPO_WRITE', 'write'],
  ['REPO_READ', 'read'],
] as const;

/**
 * Pull requests of a repository at Bitbucket Data Center, 7.14 or later. The token needs the right to write to the
 * repository, and to administrate it to read what other accounts may do.
 * Source: developer.atlassian.com/server/bitbucket/rest, "Pull Requests", "Builds and Deployments", "System Maintenance" (users).
 */
export class DataCenterForge implements PullRequestForge {
  readonly maxCommentLength = MAX_COMMENT_LENGTH;
  readonly #api: ForgeApi;
  readonly #repository: string;
  readonly #path: string;
  readonly #account: OwnAccount;

  constructor(repository: ForgeRepository, ownAccount?: NamedAccount) {
    this.#api = new ForgeApi(repository, BITBUCKET_DATA_CENTER_DIALECT);
    this.#repository = repository.repository;
    this.#path = dataCenterPath(repository.repository);
    // The name of the account is in a header of every response, and in no body.
    this.#account = new OwnAccount(this.#api, ownAccount, async (signal) => {
      const path = '/application-properties';
      return unescaped(
        (await this.#api.requestWithHeaders(signal, { method: 'GET', path })).headers.get('x-ausername'),
      );
    });
  }

  async defaultBranch(signal: AbortSignal): Promise<string> {
    const found = await this.#api.request(signal, 'GET', `${this.#path}/default-branch`);
    const branch = found.text('displayId');
    if (branch === undefined) throw this.#api.badResponse('names no default branch');
    return branch;
  }

  async listOpen(signal: AbortSignal): Promise<readonly PullRequest[]> {
    const pulls = await this.#pages(`${this.#path}/pull-requests?state=OPEN`, signal);
    return pulls.map((pull) => this.#pullRequest(pull));
  }

  async read(number: number, signal: AbortSignal): Promise<PullRequest | undefined> {
    const pull = await undefinedIfNotFound(
      this.#api.request(signal, 'GET', `${this.#path}/pull-requests/${number}`),
    );
    return pull && this.#pullRequest(pull);
  }

  /** Pull requests have no list of comments, so the comments are read from the list of activities. */
  async ownComments(number: number, marker: string, signal: AbortSignal): Promise<readonly ForgeComment[]> {
    const account = await this.#account.get(signal);
    const activities = await this.#pages(`${this.#path}/pull-requests/${number}/activities`, signal);
    return ownComments(activities, COMMENT, account, plainMarkerOf(marker));
  }

  async addComment(number: number, text: string, signal: AbortSignal): Promise<string> {
    const path = `${this.#path}/pull-requests/${number}/comments`;
    const id = (await this.#api.request(signal, 'POST', path, { text: plainMarkdown(text) })).number('id');
    if (id === undefined) throw this.#api.badResponse('gave no id to a comment');
    return String(id);
  }

  editComment(number: number, id: string, text: string, signal: AbortSignal): Promise<boolean> {
    return this.#withVersion(number, id, signal, async (path, version) => {
      await this.#api.request(signal, 'PUT', path, { text: plainMarkdown(text), version });
    });
  }

  /** Deletes the comment. One with replies cannot be deleted or folded, so its text is replaced. */
  async retireComment(number: number, id: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#withVersion(number, id, signal, async (path, version) => {
        await this.#api.request(signal, 'DELETE', `${path}?version=${version}`);
      });
    } catch (error) {
      if (!isConflict(error)) throw error;
      await this.editComment(number, id, '_Out of date._', signal);
    }
  }

  async writeStatus(status: CommitStatus, signal: AbortSignal): Promise<void> {
    const { path, body } = BITBUCKET_DATA_CENTER_DIALECT.status(this.#repository, status);
    await this.#api.request(signal, 'POST', path, body);
  }

  ownAccount(signal: AbortSignal): Promise<string> {
    return this.#account.get(signal);
  }

  /** Includes the rights of groups and of the project: the server lists all accounts with a right, however they got it. */
  async permissionOf(account: string, signal: AbortSignal): Promise<RepositoryPermission> {
    const [project = '', slug = ''] = this.#repository.split('/');
    for (const [right, permission] of PERMISSIONS) {
      const query = new URLSearchParams({
        filter: account,
        'permission.1': right,
        'permission.1.projectKey': project,
        'permission.1.repositorySlug': slug,
      });
      const users = await this.#pages(`/users?${query.toString()}`, signal);
      if (users.some((user) => user.text('name') === account && user.at('active') !== false))
        return permission;
    }
    return 'none';
  }

  /**
   * Changes a comment. The request must name the current version of the comment, which is read first.
   * @returns false if the comment does not exist
   */
  async #withVersion(
    number: number,
    id: string,
    signal: AbortSignal,
    change: (path: string, version: number) => Promise<void>,
  ): Promise<boolean> {
    const path = `${this.#path}/pull-requests/${number}/comments/${encodeURIComponent(id)}`;
    for (let attempt = 1; ; attempt++) {
      const comment = await undefinedIfNotFound(this.#api.request(signal, 'GET', path));
      if (comment === undefined) return false;
      try {
        const done = change(path, comment.number('version') ?? 0).then(() => true);
        return (await undefinedIfNotFound(done)) ?? false;
      } catch (error) {
        if (!isConflict(error) || attempt >= MAX_TRIES) throw error;
      }
    }
  }

  #pages(path: string, signal: AbortSignal): Promise<readonly ResponseFields[]> {
    const start = `${path}${path.includes('?') ? '&' : '?'}limit=100&start=`;
    return this.#api.pages(signal, `${start}0`, (response) => {
      const next = response.number('nextPageStart');
      return {
        items: new ResponseFields(response.at('values')).list(this.#api.subject),
        next: response.at('isLastPage') === false && next !== undefined ? `${start}${next}` : undefined,
      };
    });
  }

  #pullRequest(pull: ResponseFields): PullRequest {
    const [number, headCommit] = [pull.number('id'), pull.text('fromRef', 'latestCommit')];
    const baseBranch = pull.text('toRef', 'displayId');
    if (number === undefined || headCommit === undefined || baseBranch === undefined)
      throw this.#api.badResponse('described a pull request without number, head or base');
    const [state, target] = [pull.text('state'), pull.number('toRef', 'repository', 'id')];
    const isMerged = state === 'MERGED';
    return {
      number,
      state: isMerged ? 'merged' : state === 'OPEN' ? 'open' : 'closed',
      draft: pull.at('draft') === true,
      author: pull.text('author', 'user', 'name') ?? '',
      authorName: pull.text('author', 'user', 'displayName') ?? '',
      title: pull.text('title') ?? '',
      url: pull.text('links', 'self', 0, 'href'),
      fromFork: target === undefined || pull.number('fromRef', 'repository', 'id') !== target,
      baseBranch,
      headCommit,
      mergeCommit: isMerged ? pull.text('properties', 'mergeCommit', 'id') : undefined,
    };
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof InputError && error.code === 'scm.conflict';
}

/** A name in a header is percent-encoded, as in a URL. */
function unescaped(name: string | null): string | undefined {
  try {
    return name === null ? undefined : decodeURIComponent(name);
  } catch {
    return undefined;
  }
}
