import type { PullRequestForge } from '../contract/pull-request-forge.ts';
import { GitHubLikeForge, type GitHubLikeParts } from '../github-like/github-like-forge.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import type { NamedAccount } from '../request/own-account.ts';
import { GITEA_DIALECT } from './gitea-dialect.ts';

/** Gitea and Forgejo: the token needs `write:issue`, `write:repository` and `read:user`. */
export function giteaForge(repository: ForgeRepository, ownAccount?: NamedAccount): PullRequestForge {
  return new GitHubLikeForge(repository, PARTS, ownAccount);
}

/**
 * Title prefixes of drafts, for versions whose responses do not contain the state (before Gitea 1.20). These are its
 * defaults.
 */
const DRAFT_TITLE = /^(?:wip:|\[wip\]|draft:)/i;

const PARTS: GitHubLikeParts = {
  dialect: GITEA_DIALECT,
  // Gitea has no limit, but a longer comment than GitHub allows is not readable.
  maxCommentLength: 60_000,
  pageSize: ['limit', 50],
  isDraft: (pull) => pull.at('draft') === true || DRAFT_TITLE.test(pull.text('title') ?? ''),
  // Gitea cannot fold a comment, so it is deleted.
  retire: (api, _comment, path, signal) => api.request(signal, 'DELETE', path),
};
