import { InputError } from '@berth/runtime/errors';
import type { CommitStatus } from '../contract/pull-request-forge.ts';
import { GitHubLikeForge, type GitHubLikeParts } from '../github-like/github-like-forge.ts';
import { escapedPath } from '../request/forge-dialect.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import type { NamedAccount } from '../request/own-account.ts';
import { CheckRuns } from './check-runs.ts';
import { GITHUB_DIALECT } from './github-dialect.ts';

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
    isDraft: (pull) => pull.at('draft') === true,
    retire: (api, comment, path, signal) => {
      const id = comment.text('node_id');
      if (id === undefined) return api.request(signal, 'DELETE', path);
      return api.request(signal, 'POST', graphql, { query: FOLD_COMMENT, variables: { id } });
    },
  };
}

/** Only the GraphQL API can fold a comment. Source: docs.github.com/graphql/reference/mutations, minimizeComment. */
const FOLD_COMMENT =
  'mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { clientMutationId } }';
