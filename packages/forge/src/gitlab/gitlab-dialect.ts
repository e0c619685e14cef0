import { type ForgeDialect, shortDescription } from '../request/forge-dialect.ts';

const STATES = { pending: 'pending', success: 'success', failure: 'failed', error: 'failed' } as const;

/**
 * GitLab.com and self-hosted GitLab. Personal, group and project access tokens are bearer tokens.
 * Source: docs.gitlab.com/api/rest/authentication, docs.gitlab.com/api/commits, "Set commit pipeline status".
 */
export const GITLAB_DIALECT: ForgeDialect = {
  authorization: (token) => `Bearer ${token}`,
  apiOf: ({ base, path }) => ({ apiUrl: `${base}/api/v4`, repository: path }),
  status: (repository, status) => ({
    path: `/projects/${encodeURIComponent(repository)}/statuses/${status.commit}`,
    body: {
      ...{ state: STATES[status.state], description: shortDescription(status), name: status.context },
      ...(status.targetUrl !== undefined && { target_url: status.targetUrl }),
    },
  }),
};
