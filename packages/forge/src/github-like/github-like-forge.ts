import type {
  CommitStatus,
  ForgeComment,
  PullRequest,
  PullRequestForge,
  RepositoryPermission,
} from '../contract/pull-request-forge.ts';
import type { ResponseFields } from '../request/response-fields.ts';
import { ForgeApi, undefinedIfNotFound } from '../request/forge-api.ts';
import { escapedPath, type ForgeDialect } from '../request/forge-dialect.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import { type NamedAccount, OwnAccount } from '../request/own-account.ts';

/** Where a forge differs from the API that GitHub, Gitea and Forgejo share. */
export interface GitHubLikeParts {
  readonly dialect: ForgeDialect;
  readonly maxCommentLength: number;
  /** The name of the query parameter for the size of a page, and its largest value. */
  readonly pageSize: readonly [parameter: string, most: number];
  isDraft(pull: ResponseFields): boolean;
  /** @param path of the comment */
  retire(api: ForgeApi, comment: ResponseFields, path: string, signal: AbortSignal): Promise<unknown>;
}

/** Pull requests of a repository at GitHub, Gitea or Forgejo. */
export class GitHubLikeForge implements PullRequestForge {
  readonly #repository: ForgeRepository;
  readonly #parts: GitHubLikeParts;
  readonly #path: string;
  protected readonly api: ForgeApi;
  protected readonly account: OwnAccount;

  /** @param ownAccount the account that comments are written as, if the token cannot be used to find out */
  constructor(repository: ForgeRepository, parts: GitHubLikeParts, ownAccount?: NamedAccount) {
    this.#repository = repository;
    this.#parts = parts;
    this.#path = `/repos/${escapedPath(repository.repository)}`;
    this.api = new ForgeApi(repository, parts.dialect);
    this.account = new OwnAccount(this.api, ownAccount, async (signal) =>
      (await this.api.request(signal, 'GET', '/user')).text('login'),
    );
  }

  get maxCommentLength(): number {
    return this.#parts.maxCommentLength;
  }

  async defaultBranch(signal: AbortSignal): Promise<string> {
    const branch = (await this.api.request(signal, 'GET', this.#path)).text('default_branch');
    if (branch === undefined) throw this.api.badResponse('names no default branch');
    return branch;
  }

  async listOpen(signal: AbortSignal): Promise<readonly PullRequest[]> {
    const path = `${this.#path}/pulls?state=open`;
    const pulls = await this.api.numberedPages(signal, path, this.#parts.pageSize);
    return pulls.map((pull) => this.#pullRequest(pull));
  }

  async read(number: number, signal: AbortSignal): Promise<PullRequest | undefined> {
    const pull = await undefinedIfNotFound(this.api.request(signal, 'GET', `${this.#path}/pulls/${number}`));
    return pull && this.#pullRequest(pull);
  }

  async ownComments(number: number, marker: string, signal: AbortSignal): Promise<readonly ForgeComment[]> {
    const account = await this.account.get(signal);
    const path = `${this.#path}/issues/${number}/comments`;
    const comments = await this.api.numberedPages(signal, path, this.#parts.pageSize);
    return comments
      .filter((comment) => comment.text('user', 'login') === account)
      .flatMap((comment) => {
        const [id, text] = [comment.number('id'), comment.text('body') ?? ''];
        return id === undefined || !text.includes(marker) ? [] : [{ id, text }];
      })
      .toSorted((a, b) => a.id - b.id)
      .map(({ id, text }) => ({ id: String(id), text }));
  }

  async addComment(number: number, text: string, signal: AbortSignal): Promise<string> {
    const path = `${this.#path}/issues/${number}/comments`;
    const id = (await this.api.request(signal, 'POST', path, { body: text })).number('id');
    if (id === undefined) throw this.api.badResponse('gave no id to a comment');
    return String(id);
  }

  async editComment(_number: number, id: string, text: string, signal: AbortSignal): Promise<boolean> {
    const edited = this.api.request(signal, 'PATCH', this.#commentPath(id), { body: text });
    return (await undefinedIfNotFound(edited)) !== undefined;
  }

  async retireComment(_number: number, id: string, signal: AbortSignal): Promise<void> {
    const path = this.#commentPath(id);
    const comment = await undefinedIfNotFound(this.api.request(signal, 'GET', path));
    if (comment !== undefined) await undefinedIfNotFound(this.#parts.retire(this.api, comment, path, signal));
  }

  async writeStatus(status: CommitStatus, signal: AbortSignal): Promise<void> {
    const { path, body } = this.#parts.dialect.status(this.#repository.repository, status);
    await this.api.request(signal, 'POST', path, body);
  }

  async permissionOf(account: string, signal: AbortSignal): Promise<RepositoryPermission> {
    const path = `${this.#path}/collaborators/${encodeURIComponent(account)}/permission`;
    const found = await undefinedIfNotFound(this.api.request(signal, 'GET', path));
    switch (found?.text('permission')) {
      case 'owner':
      case 'admin':
        return 'admin';
      case 'write':
        return 'write';
      case 'read':
        return 'read';
      default:
        return 'none';
    }
  }

  #commentPath(id: string): string {
    return `${this.#path}/issues/comments/${encodeURIComponent(id)}`;
  }

  #pullRequest(pull: ResponseFields): PullRequest {
    const [number, headCommit] = [pull.number('number'), pull.text('head', 'sha')];
    const baseBranch = pull.text('base', 'ref');
    if (number === undefined || headCommit === undefined || baseBranch === undefined)
      throw this.api.badResponse('described a pull request without number, head or base');
    const isMerged = pull.at('merged') === true || typeof pull.at('merged_at') === 'string';
    const baseId = pull.number('base', 'repo', 'id');
    return {
      number,
      state: isMerged ? 'merged' : pull.text('state') === 'open' ? 'open' : 'closed',
      draft: this.#parts.isDraft(pull),
      author: pull.text('user', 'login') ?? '',
      // True as well if the fork was deleted: then there is no head repository.
      fromFork: baseId === undefined || pull.number('head', 'repo', 'id') !== baseId,
      baseBranch,
      headCommit,
      mergeCommit: isMerged ? pull.text('merge_commit_sha') : undefined,
    };
  }
}
