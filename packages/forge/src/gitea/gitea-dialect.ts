import { githubLikeStatus } from '../github-like/github-like-status.ts';
import type { ForgeDialect } from '../request/forge-dialect.ts';

/** Gitea and Forgejo. Source: docs.gitea.com/api. */
export const GITEA_DIALECT: ForgeDialect = {
  authorization: (token) => `token ${token}`,
  apiOf: ({ base, path }) => ({ apiUrl: `${base}/api/v1`, repository: path }),
  status: githubLikeStatus,
};
