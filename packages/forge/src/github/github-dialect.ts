import { githubLikeStatus } from '../github-like/github-like-status.ts';
import type { ForgeDialect } from '../request/forge-dialect.ts';

/** GitHub and GitHub Enterprise Server. Source: docs.github.com/rest, "Commit statuses". */
export const GITHUB_DIALECT: ForgeDialect = {
  authorization: (token) => `Bearer ${token}`,
  apiOf: ({ host, base, path }) => ({
    apiUrl: host === 'github.com' ? 'https://api.github.com' : `${base}/api/v3`,
    repository: path,
  }),
  status: githubLikeStatus,
};
