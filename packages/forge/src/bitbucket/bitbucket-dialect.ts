import type { CommitStatus } from '../contract/pull-request-forge.ts';
import { sha256 } from '@berth/runtime/sha256';
import { escapedPath, type ForgeDialect, shortDescription } from '../request/forge-dialect.ts';

const STATES = {
  pending: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'FAILED',
} as const;

/** The URL of a status that has none. Bitbucket requires one. */
const DEFAULT_URL = 'https://bitbucket.org';

const bearer = (token: string): string => `Bearer ${token}`;

/**
 * Bitbucket Cloud, with access tokens of a repository, project or workspace.
 * Source: developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses.
 */
export const BITBUCKET_CLOUD_DIALECT: ForgeDialect = {
  authorization: bearer,
  apiOf: ({ host, path }) =>
    host === 'bitbucket.org' ? { apiUrl: 'https://api.bitbucket.org/2.0', repository: path } : undefined,
  status: (repository, status) => ({
    path: `/repositories/${escapedPath(repository)}/commit/${status.commit}/statuses/build`,
    body: buildStatus(status),
  }),
};

/**
 * Bitbucket Data Center from 7.14, with HTTP access tokens.
 * Source: developer.atlassian.com/server/bitbucket/rest, "Builds and Deployments".
 */
export const BITBUCKET_DATA_CENTER_DIALECT: ForgeDialect = {
  authorization: bearer,
  apiOf: ({ base, path }) => {
    // An https path has /scm/ before the project, after the path of the server if it has one. An ssh path has neither.
    const [, context = '', rest = ''] = /^(?:(.*?)\/)?scm\/(.+)$/.exec(path) ?? [undefined, '', path];
    return {
      apiUrl: `${base}${context === '' ? '' : `/${context}`}/rest/api/latest`,
      repository: rest,
    };
  },
  status: (repository, status) => ({
    path: `${dataCenterPath(repository)}/commits/${status.commit}/builds`,
    body: buildStatus(status),
  }),
};

export function dataCenterPath(repository: string): string {
  const [project = '', slug = ''] = repository.split('/').map(encodeURIComponent);
  return `/projects/${project}/repos/${slug}`;
}

function buildStatus(status: CommitStatus): object {
  const { context, state, targetUrl = DEFAULT_URL } = status;
  return {
    // Keys are limited to 40 characters. A hash keeps the keys of long contexts unique.
    key: context.length <= 40 ? context : sha256(context).slice(0, 40),
    name: context,
    state: STATES[state],
    description: shortDescription(status),
    url: targetUrl,
  };
}
