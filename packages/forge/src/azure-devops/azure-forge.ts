import type {
  CommitStatus,
  ForgeComment,
  PullRequest,
  PullRequestForge,
  RepositoryPermission,
} from '../contract/pull-request-forge.ts';
import { branchOfRef } from '../event/webhook-event.ts';
import { ForgeApi, undefinedIfNotFound } from '../request/forge-api.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import { type NamedAccount, OwnAccount } from '../request/own-account.ts';
import { ResponseFields } from '../request/response-fields.ts';
import { API_VERSION, AZURE_DIALECT, azureParts, azureRepositoryPath, azureStatus } from './azure-dialect.ts';

/** Azure DevOps accepts 150,000 characters, but a longer comment than GitHub allows is not readable. */
const MAX_COMMENT_LENGTH = 60_000;
const PAGE_SIZE = 100;

/**
 * Pull requests of a repository at Azure DevOps. Accounts are identified by their ids. A comment is the first one of a
 * thread, and its id is `THREAD/COMMENT`. The token needs the scopes Code (read), Code (status), Pull Request Threads
 * (read and write), Identity (read) and Security (manage, to read what other accounts may do).
 * Source: learn.microsoft.com/rest/api/azure/devops/git, "Pull Requests", "Pull Request Threads", "Pull Request Statuses",
 * "Pull Request Iterations".
 */
export class AzureForge implements PullRequestForge {
  readonly maxCommentLength = MAX_COMMENT_LENGTH;
  readonly #api: ForgeApi;
  readonly #repository: ForgeRepository;
  readonly #path: string;
  readonly #account: OwnAccount;
  readonly #permissions: AzurePermissions;

  constructor(repository: ForgeRepository, ownAccount?: NamedAccount) {
    this.#api = new ForgeApi(repository, AZURE_DIALECT);
    this.#repository = repository;
    this.#path = azureRepositoryPath(repository.repository);
    this.#permissions = new AzurePermissions(this.#api, repository);
    this.#account = new OwnAccount(this.#api, ownAccount, async (signal) => {
      const { organisation } = azureParts(repository.repository);
      const path = `/${organisation}/_apis/connectionData?api-version=7.1-preview`;
      return (await this.#api.request(signal, 'GET', path)).text('authenticatedUser', 'id');
    });
  }

  async defaultBranch(signal: AbortSignal): Promise<string> {
    const repository = await this.#api.request(signal, 'GET', `${this.#path}?${API_VERSION}`);
    const branch = branchOfRef(repository.text('defaultBranch'));
    if (branch === undefined) throw this.#api.badResponse('names no default branch');
    return branch;
  }

  async listOpen(signal: AbortSignal): Promise<readonly PullRequest[]> {
    const start = `${this.#path}/pullrequests?searchCriteria.status=active&${API_VERSION}&$top=${PAGE_SIZE}&$skip=`;
    let skip = 0;
    const pulls = await this.#api.pages(signal, `${start}0`, (response) => ({
      items: this.#valuesOf(response),
      next: `${start}${(skip += PAGE_SIZE)}`,
    }));
    // A pull request that was just opened may have no commits yet.
    return pulls
      .filter((pull) => pull.text('lastMergeSourceCommit', 'commitId') !== undefined)
      .map((pull) => this.#pullRequest(pull));
  }

  async read(number: number, signal: AbortSignal): Promise<PullRequest | undefined> {
    const path = `${this.#path}/pullrequests/${number}?${API_VERSION}`;
    const pull = await undefinedIfNotFound(this.#api.request(signal, 'GET', path));
    return pull && this.#pullRequest(pull);
  }

  async ownComments(number: number, marker: string, signal: AbortSignal): Promise<readonly ForgeComment[]> {
    const account = await this.#account.get(signal);
    const threads = await this.#api.request(signal, 'GET', `${this.#threadsPath(number)}?${API_VERSION}`);
    return this.#valuesOf(threads)
      .flatMap((thread) => {
        const [threadId, id] = [thread.number('id'), thread.number('comments', 0, 'id')];
        const text = thread.text('comments', 0, 'content') ?? '';
        const isDeleted = thread.at('isDeleted') === true || thread.at('comments', 0, 'isDeleted') === true;
        const isOurs = thread.text('comments', 0, 'author', 'id') === account;
        if (threadId === undefined || id === undefined || isDeleted || !isOurs || !text.includes(marker))
          return [];
        return [{ threadId, id: `${threadId}/${id}`, text }];
      })
      .toSorted((a, b) => a.threadId - b.threadId)
      .map(({ id, text }) => ({ id, text }));
  }

  async addComment(number: number, text: string, signal: AbortSignal): Promise<string> {
    const comment = { parentCommentId: 0, content: text, commentType: 'text' };
    const thread = await this.#api.request(signal, 'POST', `${this.#threadsPath(number)}?${API_VERSION}`, {
      comments: [comment],
      // If a policy requires resolved comments, an active thread would block the merge.
      status: 'closed',
    });
    const [threadId, id] = [thread.number('id'), thread.number('comments', 0, 'id')];
    if (threadId === undefined || id === undefined) throw this.#api.badResponse('gave no id to a comment');
    return `${threadId}/${id}`;
  }

  async editComment(number: number, id: string, text: string, signal: AbortSignal): Promise<boolean> {
    const edited = this.#api.request(signal, 'PATCH', this.#commentPath(number, id), { content: text });
    return (await undefinedIfNotFound(edited)) !== undefined;
  }

  /** A closed thread is folded already, so an outdated comment is deleted. */
  async retireComment(number: number, id: string, signal: AbortSignal): Promise<void> {
    await undefinedIfNotFound(this.#api.request(signal, 'DELETE', this.#commentPath(number, id)));
  }

  /**
   * Writes the status to the iteration of the pull request with this commit. Otherwise a status would count for later
   * pushes as well.
   */
  async writeStatus(status: CommitStatus, signal: AbortSignal): Promise<void> {
    const iterationId =
      status.pullRequest === undefined
        ? undefined
        : await this.#iterationOf(status.pullRequest, status.commit, signal);
    if (iterationId === undefined) {
      const { path, body } = AZURE_DIALECT.status(this.#repository.repository, status);
      await this.#api.request(signal, 'POST', path, body);
      return;
    }
    const path = `${this.#path}/pullRequests/${status.pullRequest}/statuses?${API_VERSION}`;
    await this.#api.request(signal, 'POST', path, { ...azureStatus(status), iterationId });
  }

  ownAccount(signal: AbortSignal): Promise<string> {
    return this.#account.get(signal);
  }

  permissionOf(account: string, signal: AbortSignal): Promise<RepositoryPermission> {
    return this.#permissions.of(account, signal);
  }

  async #iterationOf(number: number, commit: string, signal: AbortSignal): Promise<number | undefined> {
    const path = `${this.#path}/pullRequests/${number}/iterations?${API_VERSION}`;
    const iterations = this.#valuesOf(await this.#api.request(signal, 'GET', path));
    return iterations.findLast((one) => one.text('sourceRefCommit', 'commitId') === commit)?.number('id');
  }

  #threadsPath(number: number): string {
    return `${this.#path}/pullRequests/${number}/threads`;
  }

  #commentPath(number: number, id: string): string {
    const [thread = '', comment = ''] = id.split('/').map(encodeURIComponent);
    return `${this.#threadsPath(number)}/${thread}/comments/${comment}?${API_VERSION}`;
  }

  #valuesOf(response: ResponseFields): readonly ResponseFields[] {
    return new ResponseFields(response.at('value')).list(this.#api.subject);
  }

  #pullRequest(pull: ResponseFields): PullRequest {
    const number = pull.number('pullRequestId');
    const headCommit = pull.text('lastMergeSourceCommit', 'commitId');
    const baseBranch = branchOfRef(pull.text('targetRefName'));
    if (number === undefined || headCommit === undefined || baseBranch === undefined)
      throw this.#api.badResponse('described a pull request without number, head or base');
    const status = pull.text('status');
    const isMerged = status === 'completed';
    const repository = pull.text('repository', 'webUrl');
    return {
      number,
      state: isMerged ? 'merged' : status === 'active' ? 'open' : 'closed',
      draft: pull.at('isDraft') === true,
      author: pull.text('createdBy', 'id') ?? '',
      authorName: pull.text('createdBy', 'displayName') ?? '',
      title: pull.text('title') ?? '',
      url: repository === undefined ? undefined : `${repository}/pullrequest/${number}`,
      fromFork: pull.at('forkSource') !== undefined && pull.at('forkSource') !== null,
      baseBranch,
      headCommit,
      mergeCommit: isMerged ? pull.text('lastMergeCommit', 'commitId') : undefined,
    };
  }
}

/** "Git Repositories" in learn.microsoft.com/azure/devops/organizations/security/namespace-reference. */
const GIT_REPOSITORIES = '2e9eb7ed-3c0a-47d4-87c1-0ffdaa275f87';
const [READ, CONTRIBUTE, MANAGE_PERMISSIONS] = [2, 4, 8192] as const;
/** Limits on groups that are members of groups, and on the identities in one request. */
const [MAX_DEPTH, MAX_GROUPS, MAX_AT_ONCE] = [8, 400, 20] as const;

/**
 * What an account may do in a repository. Azure DevOps reports the rights of others only as access control lists: of
 * the repository, of its project, and of all repositories. The nearest list that mentions a right decides. Within one
 * list, deny takes precedence over allow.
 * Source: learn.microsoft.com/rest/api/azure/devops, "Access Control Lists - Query", "Identities - Read Identities".
 */
class AzurePermissions {
  readonly #api: ForgeApi;
  readonly #repository: ForgeRepository;
  readonly #organisation: string;

  constructor(api: ForgeApi, repository: ForgeRepository) {
    this.#api = api;
    this.#repository = repository;
    this.#organisation = azureParts(repository.repository).organisation;
  }

  /** @param account the id of the account */
  async of(account: string, signal: AbortSignal): Promise<RepositoryPermission> {
    const descriptors = await this.#descriptorsOf(account, signal);
    if (descriptors.size === 0) return 'none';
    const path = `${azureRepositoryPath(this.#repository.repository)}?${API_VERSION}`;
    const repository = await this.#api.request(signal, 'GET', path);
    const [id, project] = [repository.text('id'), repository.text('project', 'id')];
    if (id === undefined || project === undefined)
      throw this.#api.badResponse('gave no id to the repository');
    let [allowed, decided] = [0, 0];
    for (const token of [`repoV2/${project}/${id}`, `repoV2/${project}`, 'repoV2']) {
      const { allow, deny, inherits } = await this.#accessOf(token, descriptors, signal);
      allowed |= allow & ~deny & ~decided;
      decided |= allow | deny;
      if (!inherits) break;
    }
    if ((allowed & MANAGE_PERMISSIONS) !== 0) return 'admin';
    if ((allowed & CONTRIBUTE) !== 0) return 'write';
    return (allowed & READ) !== 0 ? 'read' : 'none';
  }

  /** The descriptors of the account and of all groups that it belongs to. */
  async #descriptorsOf(account: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    let pending = await this.#readIdentities(`identityIds=${encodeURIComponent(account)}`, signal, found);
    for (let depth = 0; depth < MAX_DEPTH && pending.length > 0 && found.size < MAX_GROUPS; depth++) {
      const next: string[] = [];
      for (let at = 0; at < pending.length; at += MAX_AT_ONCE) {
        const batch = pending.slice(at, at + MAX_AT_ONCE).join(',');
        next.push(...(await this.#readIdentities(`descriptors=${encodeURIComponent(batch)}`, signal, found)));
      }
      pending = next;
    }
    return found;
  }

  /**
   * Adds the identities that the query finds, and the groups that they belong to.
   * @returns the groups that are new
   */
  async #readIdentities(query: string, signal: AbortSignal, found: Set<string>): Promise<readonly string[]> {
    const { fields } = await this.#api.requestWithHeaders(signal, {
      method: 'GET',
      apiUrl: this.#repository.apiUrl.replace('https://dev.azure.com', 'https://vssps.dev.azure.com'),
      path: `/${this.#organisation}/_apis/identities?${query}&queryMembership=direct&${API_VERSION}`,
    });
    const groups: string[] = [];
    for (const identity of new ResponseFields(fields.at('value')).list(this.#api.subject)) {
      const descriptor = identity.text('descriptor');
      if (descriptor === undefined || identity.at('isActive') === false) continue;
      found.add(descriptor);
      const memberOf = identity.at('memberOf');
      for (const group of Array.isArray(memberOf) ? memberOf : [])
        if (typeof group === 'string' && !found.has(group)) {
          found.add(group);
          groups.push(group);
        }
    }
    return groups;
  }

  async #accessOf(token: string, descriptors: ReadonlySet<string>, signal: AbortSignal) {
    const query = `token=${encodeURIComponent(token)}&recurse=false&${API_VERSION}`;
    const path = `/${this.#organisation}/_apis/accesscontrollists/${GIT_REPOSITORIES}?${query}`;
    const response = await this.#api.request(signal, 'GET', path);
    const lists = new ResponseFields(response.at('value')).list(this.#api.subject);
    const list = lists.find((one) => one.text('token')?.replace(/\/+$/, '') === token);
    let [allow, deny] = [0, 0];
    for (const descriptor of list === undefined ? [] : descriptors) {
      allow |= list?.number('acesDictionary', descriptor, 'allow') ?? 0;
      deny |= list?.number('acesDictionary', descriptor, 'deny') ?? 0;
    }
    return { allow, deny, inherits: list?.at('inheritPermissions') !== false };
  }
}
