import type { CommitStatus } from '../contract/pull-request-forge.ts';
import { type ForgeDialect, escapedPath, shortDescription } from '../request/forge-dialect.ts';

/** GitHub and GitHub Enterprise Server. Source: docs.github.com/rest, "Commit statuses". */
export const GITHUB_DIALECT: ForgeDialect = {
  authorization: (token) => `Bearer ${token}`,
  apiOf: ({ host, base, path }) => ({
    apiUrl: host === 'github.com' ? 'https://api.github.com' : `${base}/api/v3`,
    repository: path,
  }),
  status: githubLikeStatus,
};

/** Gitea and Forgejo. Source: docs.gitea.com/api. */
export const GITEA_DIALECT: ForgeDialect = {
  authorization: (token) => `token ${token}`,
  apiOf: ({ base, path }) => ({ apiUrl: `${base}/api/v1`, repository: path }),
  status: githubLikeStatus,
};

/** The status of a commit at GitHub, Gitea and Forgejo. A newer one with the same context replaces it. */
function githubLikeStatus(repository: string, status: CommitStatus) {
  const { commit, state, context, targetUrl } = status;
  return {
    path: `/repos/${escapedPath(repository)}/statuses/${commit}`,
    body: {
      ...{ state, description: shortDescription(status), context },
      ...(targetUrl !== undefined && { target_url: targetUrl }),
    },
  };
}
