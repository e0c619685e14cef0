import { InputError } from '@berth/runtime/errors';
import type {
  PullRequestForge,
  CommandReaction,
  CommitStatus,
  StatusAnnotation,
  StatusReport,
  ForgeComment,
  PullRequest,
  RepositoryPermission,
} from '../contract/pull-request-forge.ts';
import { GITHUB_DIALECT, GITEA_DIALECT } from './github-like-dialects.ts';
import { ForgeApi, ownComments, undefinedIfNotFound } from '../request/forge-api.ts';
import { escapedPath, shortDescription, type ForgeDialect } from '../request/forge-dialect.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import { type NamedAccount, OwnAccount } from '../request/own-account.ts';
import { ResponseFields } from '../request/response-fields.ts';

const GITEA_PARTS: GitHubLikeParts = {
  dialect: GITEA_DIALECT,
  // Gitea has no limit, but a longer comment than GitHub allows is not readable.
  maxCommentLength: 60_000,
  pageSize: ['limit', 50],
  // Gitea cannot fold a comment, so it is deleted.
  retire: (api, _comment, path, signal) => api.request(signal, 'DELETE', path),
};

/** Only the GraphQL API can fold a comment. Source: docs.github.com/graphql/reference/mutations, minimizeComment. */
const FOLD_COMMENT =
  'mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized } } }';

/** Both forges have these reactions. Source: docs.github.com/rest/reactions; Gitea, `[ui] REACTIONS`. */
const REACTIONS = { accepted: '+1', refused: 'confused' } as const;

const PERMISSIONS: ReadonlyMap<string, RepositoryPermission> = new Map([
  ['owner', 'admin'],
  ['admin', 'admin'],
  ['write', 'write'],
  ['read', 'read'],
]);

const CONCLUSIONS = {
  success: 'success',
  neutral: 'neutral',
  'action-required': 'action_required',
  failure: 'failure',
} as const;
/** GitHub's limit. Annotations of further requests are added to the earlier ones. */
const ANNOTATIONS_PER_REQUEST = 50;
/** Characters. GitHub allows 65,535, but counts some of them in bytes. */
const MAX_SUMMARY_LENGTH = 60_000;
/** Of an annotation, in characters. GitHub allows 64 KB of message. */
const [MAX_TITLE_LENGTH, MAX_MESSAGE_LENGTH] = [255, 16_000] as const;
/** Of runs in progress whose ids are remembered. */
const MAX_IN_PROGRESS = 1_000;

const COMMENT = { id: ['id'], author: ['user', 'login'], text: ['body'] };

/** Where a forge differs from the API that GitHub, Gitea and Forgejo share. */
interface GitHubLikeParts {
  readonly dialect: ForgeDialect;
  readonly maxCommentLength: number;
  /** The name of the query parameter for the size of a page, and its largest value. */
  readonly pageSize: readonly [parameter: string, most: number];
  /** @param path of the comment */
  retire(api: ForgeApi, comment: ResponseFields, path: string, signal: AbortSignal): Promise<unknown>;
}

/** Pull requests of a repository at GitHub, Gitea or Forgejo. */
class GitHubLikeForge implements PullRequestForge {
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
    return ownComments(comments, COMMENT, account, marker);
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

  async react(
    _number: number,
    comment: string,
    reaction: CommandReaction,
    signal: AbortSignal,
  ): Promise<void> {
    const body = { content: REACTIONS[reaction] };
    await undefinedIfNotFound(
      this.api.request(signal, 'POST', `${this.#commentPath(comment)}/reactions`, body),
    );
  }

  async writeStatus(status: CommitStatus, signal: AbortSignal): Promise<void> {
    const { path, body } = this.#parts.dialect.status(this.#repository.repository, status);
    await this.api.request(signal, 'POST', path, body);
  }

  ownAccount(signal: AbortSignal): Promise<string> {
    return this.account.get(signal);
  }

  async permissionOf(account: string, signal: AbortSignal): Promise<RepositoryPermission> {
    const path = `${this.#path}/collaborators/${encodeURIComponent(account)}/permission`;
    const found = await undefinedIfNotFound(this.api.request(signal, 'GET', path));
    return PERMISSIONS.get(found?.text('permission') ?? '') ?? 'none';
  }

  #commentPath(id: string): string {
    return `${this.#path}/issues/comments/${encodeURIComponent(id)}`;
  }

  #pullRequest(pull: ResponseFields): PullRequest {
    const [number, headCommit] = [pull.number('number'), pull.text('head', 'sha')];
    const baseBranch = pull.text('base', 'ref');
    if (number === undefined || headCommit === undefined || baseBranch === undefined)
      throw this.api.badResponse('described a pull request without number, head or base');
    const isMerged = pull.text('merged_at') !== undefined;
    const baseId = pull.number('base', 'repo', 'id');
    return {
      number,
      state: isMerged ? 'merged' : pull.text('state') === 'open' ? 'open' : 'closed',
      draft: pull.at('draft') === true,
      author: pull.text('user', 'login') ?? '',
      authorName: pull.text('user', 'login') ?? '',
      title: pull.text('title') ?? '',
      url: pull.text('html_url'),
      // True as well if the fork was deleted: then there is no head repository.
      fromFork: baseId === undefined || pull.number('head', 'repo', 'id') !== baseId,
      baseBranch,
      headCommit,
      mergeCommit: isMerged ? pull.text('merge_commit_sha') : undefined,
    };
  }
}

/** Gitea and Forgejo: the token needs `write:issue`, `write:repository` and `read:user`. */
export function giteaForge(repository: ForgeRepository, ownAccount?: NamedAccount): PullRequestForge {
  return new GitHubLikeForge(repository, GITEA_PARTS, ownAccount);
}

/**
 * GitHub and GitHub Enterprise Server. A token needs read and write access to pull requests and commit statuses, and
 * read access to contents and metadata. An app, which writes check runs, needs read and write access to checks.
 */
export class GitHubForge extends GitHubLikeForge {
  readonly #checks: CheckRuns;
  #writesChecks: boolean | undefined;

  constructor(repository: ForgeRepository, ownAccount?: NamedAccount) {
    super(repository, partsOf(repository), ownAccount);
    this.#checks = new CheckRuns(this.api, `/repos/${escapedPath(repository.repository)}`);
  }

  /** An app without the right to write checks writes commit statuses instead. */
  override async writeStatus(status: CommitStatus, signal: AbortSignal): Promise<void> {
    // The name of an app's account ends with [bot].
    this.#writesChecks ??= (await this.account.get(signal)).endsWith('[bot]');
    if (!this.#writesChecks) return super.writeStatus(status, signal);
    try {
      await this.#checks.write(status, signal);
    } catch (error) {
      if (!(error instanceof InputError) || error.code !== 'scm.auth') throw error;
      await super.writeStatus(status, signal);
      this.#writesChecks = false;
    }
  }
}

function partsOf({ apiUrl }: ForgeRepository): GitHubLikeParts {
  // A self-hosted server has REST below /api/v3, and GraphQL beside it.
  const graphql = /\/api\/v3\/*$/.test(apiUrl) ? '/../graphql' : '/graphql';
  return {
    dialect: GITHUB_DIALECT,
    // GitHub allows 65,536 characters, but counts some of them in bytes.
    maxCommentLength: 60_000,
    pageSize: ['per_page', 100],
    retire: async (api, comment, path, signal) => {
      const id = comment.text('node_id');
      const query = { query: FOLD_COMMENT, variables: { id } };
      const folded = id === undefined ? undefined : await api.request(signal, 'POST', graphql, query);
      // GraphQL refuses with status 200.
      const isFolded = folded?.at('data', 'minimizeComment', 'minimizedComment', 'isMinimized') === true;
      if (!isFolded) await api.request(signal, 'DELETE', path);
    },
  };
}

/**
 * Check runs, which only a GitHub App may write. They have a summary, and annotations at lines of files.
 * Source: docs.github.com/rest/checks/runs.
 */
class CheckRuns {
  readonly #api: ForgeApi;
  readonly #path: string;
  /** Ids of the check runs in progress, by commit and name. */
  readonly #inProgress = new Map<string, number>();

  /** @param path of the repository */
  constructor(api: ForgeApi, path: string) {
    this.#api = api;
    this.#path = path;
  }

  /** A completed run stays, because its annotations cannot be removed. A new run with the same name replaces it. */
  async write(status: CommitStatus, signal: AbortSignal): Promise<void> {
    const key = `${status.commit} ${status.context}`;
    const id = this.#inProgress.get(key) ?? (await this.#findRun(status, signal));
    if (status.state === 'pending') {
      const body = { ...runOf(status), status: 'in_progress' };
      this.#remember(key, await this.#send(id, status.commit, body, signal));
      return;
    }
    const annotations = (status.report?.annotations ?? []).map(annotationOf);
    const conclusion = CONCLUSIONS[status.report?.conclusion ?? conclusionOf(status)];
    let run = id;
    for (let start = 0; start === 0 || start < annotations.length; start += ANNOTATIONS_PER_REQUEST) {
      const { output, ...rest } = runOf(status);
      const batch = annotations.slice(start, start + ANNOTATIONS_PER_REQUEST);
      const isLast = start + ANNOTATIONS_PER_REQUEST >= annotations.length;
      const end = isLast ? { status: 'completed', conclusion } : { status: 'in_progress' };
      const body = { ...rest, ...end, output: { ...output, annotations: batch } };
      run = await this.#send(run, status.commit, body, signal);
      if (!isLast) this.#remember(key, run);
    }
    this.#inProgress.delete(key);
  }

  /** Finds a run that an earlier process started. */
  async #findRun({ commit, context }: CommitStatus, signal: AbortSignal): Promise<number | undefined> {
    const query = `check_name=${encodeURIComponent(context)}&filter=latest`;
    const response = await this.#api.request(
      signal,
      'GET',
      `${this.#path}/commits/${commit}/check-runs?${query}`,
    );
    const [run] = new ResponseFields(response.at('check_runs')).list(this.#api.subject);
    return run?.text('status') === 'in_progress' ? run.number('id') : undefined;
  }

  /**
   * Creates a run, or changes the one with this id.
   * @returns the id of the run
   */
  async #send(id: number | undefined, commit: string, body: object, signal: AbortSignal): Promise<number> {
    const response = await (id === undefined
      ? this.#api.request(signal, 'POST', `${this.#path}/check-runs`, { ...body, head_sha: commit })
      : this.#api.request(signal, 'PATCH', `${this.#path}/check-runs/${id}`, body));
    const written = response.number('id');
    if (written === undefined) throw this.#api.badResponse('gave no id to a check run');
    return written;
  }

  #remember(key: string, id: number): void {
    const [oldest] = this.#inProgress.keys();
    if (this.#inProgress.size >= MAX_IN_PROGRESS && oldest !== undefined) this.#inProgress.delete(oldest);
    this.#inProgress.set(key, id);
  }
}

function runOf(status: CommitStatus) {
  const { context, targetUrl, report } = status;
  const title = shortDescription(status);
  const summary = (report?.summary ?? title).slice(0, MAX_SUMMARY_LENGTH);
  return {
    ...{ name: context, output: { title, summary } },
    ...(targetUrl !== undefined && { details_url: targetUrl }),
  };
}

function conclusionOf({ state }: CommitStatus): StatusReport['conclusion'] {
  return state === 'success' ? 'success' : 'failure';
}

function annotationOf({ file, line, level, title, message }: StatusAnnotation): object {
  const texts = { title: title.slice(0, MAX_TITLE_LENGTH), message: message.slice(0, MAX_MESSAGE_LENGTH) };
  return { path: file, start_line: line, end_line: line, annotation_level: level, ...texts };
}
