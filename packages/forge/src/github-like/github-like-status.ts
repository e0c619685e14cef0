import type { CommitStatus } from '../contract/pull-request-forge.ts';
import { escapedPath, shortDescription } from '../request/forge-dialect.ts';

/** The status of a commit at GitHub, Gitea and Forgejo. A newer one with the same context replaces it. */
export function githubLikeStatus(repository: string, status: CommitStatus) {
  const { commit, state, context, targetUrl } = status;
  return {
    path: `/repos/${escapedPath(repository)}/statuses/${commit}`,
    body: {
      ...{ state, description: shortDescription(status), context },
      ...(targetUrl !== undefined && { target_url: targetUrl }),
    },
  };
}
