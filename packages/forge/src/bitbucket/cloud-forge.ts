import { InputError } from '@berth/runtime/errors';
import type {
  CommitStatus,
  ForgeComment,
  PullRequest,
  PullRequestForge,
  RepositoryPermission,
} from '../contract/pull-request-forge.ts';
import { ResponseFields } from '../request/response-fields.ts';
import { ForgeApi, ownComments, type Page, undefinedIf, undefinedIfNotFound } from '../request/forge-api.ts';
import { escapedPath } from '../request/forge-dialect.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import { type NamedAccount, OwnAccount } from '../request/own-account.ts';
import { BITBUCKET_CLOUD_DIALECT, plainMarkdown, plainMarkerOf } from './bitbucket-dialect.ts';

/** Below the limit of 32,768 characters. */
const MAX_COMMENT_LENGTH = 32_000;
const MAX_REMEMBERED = 10_000;
const COMMENT = { id: ['id'], author: ['user', 'uuid'], text: ['content', 'raw'] };

/**
 * Pull requests of a repository at Bitbucket Cloud. Accounts are identified by their uuids. The token needs the scopes
 * `pullrequest:write` and `repository:write`, and `repository:admin` to read what other accounts may do.
 * Source: developer.atlassian.com/cloud/bitbucket/rest, "Pullrequests", "Commits", "Workspaces".
 */
export class CloudForge implements PullRequestForge {
  readonly maxCommentLength = MAX_COMMENT_LENGTH;
  readonly #api: ForgeApi;
  readonly #repository: ForgeRepository;
  readonly #path: string;
  readonly #account: OwnAccount;
  /** Full ids by the 12 digits that a pull request contains. */
  readonly #fullIds = new Map<string, string>();

  constructor(repository: ForgeRepository, ownAccount?: NamedAccount) {
    this.#api = new ForgeApi(repository, BITBUCKET_CLOUD_DIALECT);
    this.#repository = repository;
    this.#path = `/repositories/${escapedPath(repository.repository)}`;
    this.#account = new OwnAccount(this.#api, ownAccount, async (signal) =>
      (await this.#api.request(signal, 'GET', '/user')).text('uuid'),
    );
  }

  async defaultBranch(signal: AbortSignal): Promise<string> {
    const branch = (await this.#api.request(signal, 'GET', this.#path)).text('mainbranch', 'name');
    if (branch === undefined) throw this.#api.badResponse('names no default branch');
    return branch;
  }

  async listOpen(signal: AbortSignal): Promise<readonly PullRequest[]> {
    const pulls = await this.#pages(`${this.#path}/pullrequests?state=OPEN&pagelen=50`, signal);
    const read: PullRequest[] = [];
    // One whose fork was deleted has no commit.
    for (const pull of pulls)
      if (pull.text('source', 'commit', 'hash') !== undefined)
        read.push(await this.#pullRequest(pull, signal));
    return read;
  }

  async read(number: number, signal: AbortSignal): Promise<PullRequest | undefined> {
    const path = `${this.#path}/pullrequests/${number}`;
    const pull = await undefinedIfNotFound(this.#api.request(signal, 'GET', path));
    return pull && this.#pullRequest(pull, signal);
  }

  async ownComments(number: number, marker: string, signal: AbortSignal): Promise<readonly ForgeComment[]> {
    const path = `${this.#path}/pullrequests/${number}/comments?pagelen=100`;
    const all = (await this.#pages(path, signal)).filter((one) => one.at('deleted') !== true);
    const known = await undefinedIf('scm.auth', this.#account.get(signal));
    const authors = known === undefined ? all.map((one) => one.text(...COMMENT.author)) : [known];
    for (const account of new Set(authors)) {
      const comments = ownComments(all, COMMENT, account, plainMarkerOf(marker));
      if (known === undefined && !(await this.#wrote(number, comments[0], signal))) continue;
      this.#account.learn(account);
      return comments;
    }
    return [];
  }

  /** An access token may not ask for its account. But only the author of a comment may write it again as it is. */
  async #wrote(number: number, comment: ForgeComment | undefined, signal: AbortSignal): Promise<boolean> {
    if (comment === undefined) return false;
    const edited = this.editComment(number, comment.id, comment.text, signal);
    return (await undefinedIf('scm.auth', edited)) === true;
  }

  async addComment(number: number, text: string, signal: AbortSignal): Promise<string> {
    const body = { content: { raw: plainMarkdown(text) } };
    const comment = await this.#api.request(
      signal,
      'POST',
      `${this.#path}/pullrequests/${number}/comments`,
      body,
    );
    const id = comment.number('id');
    if (id === undefined) throw this.#api.badResponse('gave no id to a comment');
    this.#account.learn(comment.text('user', 'uuid'));
    return String(id);
  }

  async editComment(number: number, id: string, text: string, signal: AbortSignal): Promise<boolean> {
    const body = { content: { raw: plainMarkdown(text) } };
    const edited = this.#api.request(signal, 'PUT', this.#commentPath(number, id), body);
    return (await undefinedIfNotFound(edited)) !== undefined;
  }

  /** Bitbucket cannot fold a comment, so it is deleted. */
  async retireComment(number: number, id: string, signal: AbortSignal): Promise<void> {
    await undefinedIfNotFound(this.#api.request(signal, 'DELETE', this.#commentPath(number, id)));
  }

  async writeStatus(status: CommitStatus, signal: AbortSignal): Promise<void> {
    const { path, body } = BITBUCKET_CLOUD_DIALECT.status(this.#repository.repository, status);
    await this.#api.request(signal, 'POST', path, body);
  }

  ownAccount(signal: AbortSignal): Promise<string> {
    return this.#account.get(signal);
  }

  /** Includes the rights of groups and of the project. */
  async permissionOf(account: string, signal: AbortSignal): Promise<RepositoryPermission> {
    const [workspace = '', slug = ''] = this.#repository.repository.split('/').map(encodeURIComponent);
    const query = encodeURIComponent(`user.uuid=${JSON.stringify(account)}`);
    const path = `/workspaces/${workspace}/permissions/repositories/${slug}?q=${query}`;
    const found = valuesOf(await this.#api.request(signal, 'GET', path), this.#api.subject);
    const permission = found.find((one) => one.text('user', 'uuid') === account)?.text('permission');
    return permission === 'admin' || permission === 'write' || permission === 'read' ? permission : 'none';
  }

  #commentPath(number: number, id: string): string {
    return `${this.#path}/pullrequests/${number}/comments/${encodeURIComponent(id)}`;
  }

  #pages(path: string, signal: AbortSignal): Promise<readonly ResponseFields[]> {
    return this.#api.pages(signal, path, (response) => ({
      items: valuesOf(response, this.#api.subject),
      next: this.#nextPath(response),
    }));
  }

  /** The address of the next page. The token is sent only to the API. */
  #nextPath(response: ResponseFields): Page['next'] {
    const [next, base] = [response.text('next'), this.#repository.apiUrl.replace(/\/+$/, '')];
    if (next === undefined) return undefined;
    if (!next.startsWith(`${base}/`)) throw this.#api.badResponse('named a next page on another server');
    return next.slice(base.length);
  }

  async #pullRequest(pull: ResponseFields, signal: AbortSignal): Promise<PullRequest> {
    const [number, head] = [pull.number('id'), pull.text('source', 'commit', 'hash')];
    const baseBranch = pull.text('destination', 'branch', 'name');
    if (number === undefined || head === undefined || baseBranch === undefined)
      throw this.#api.badResponse('described a pull request without number, head or base');
    const [source, target] = [
      pull.text('source', 'repository', 'uuid'),
      pull.text('destination', 'repository', 'uuid'),
    ];
    const [state, merged] = [pull.text('state'), pull.text('merge_commit', 'hash')];
    const sourceRepository = pull.text('source', 'repository', 'full_name');
    const isMerged = state === 'MERGED';
    return {
      number,
      state: isMerged ? 'merged' : state === 'OPEN' ? 'open' : 'closed',
      draft: pull.at('draft') === true,
      author: pull.text('author', 'uuid') ?? '',
      authorName: pull.text('author', 'display_name') ?? '',
      title: pull.text('title') ?? '',
      url: pull.text('links', 'html', 'href'),
      // True as well if the fork was deleted: then there is no source repository.
      fromFork: target === undefined || source !== target,
      baseBranch,
      headCommit: await this.#fullId(head, sourceRepository ?? this.#repository.repository, signal),
      mergeCommit:
        isMerged && merged !== undefined
          ? await this.#fullId(merged, this.#repository.repository, signal)
          : undefined,
    };
  }

  /** Returns the short id if the commit cannot be read (a private fork). Then it cannot be fetched, either. */
  async #fullId(hash: string, repository: string, signal: AbortSignal): Promise<string> {
    if (hash.length >= 40) return hash;
    const known = this.#fullIds.get(hash);
    if (known !== undefined) return known;
    try {
      const path = `/repositories/${escapedPath(repository)}/commit/${encodeURIComponent(hash)}?fields=hash`;
      const full = (await this.#api.request(signal, 'GET', path)).text('hash');
      if (full?.startsWith(hash) !== true)
        throw this.#api.badResponse('named another commit than the requested one');
      const [oldest] = this.#fullIds.keys();
      if (this.#fullIds.size >= MAX_REMEMBERED && oldest !== undefined) this.#fullIds.delete(oldest);
      this.#fullIds.set(hash, full);
      return full;
    } catch (error) {
      if (error instanceof InputError && repository !== this.#repository.repository) return hash;
      throw error;
    }
  }
}

function valuesOf(response: ResponseFields, subject: string): readonly ResponseFields[] {
  return new ResponseFields(response.at('values')).list(subject);
}
