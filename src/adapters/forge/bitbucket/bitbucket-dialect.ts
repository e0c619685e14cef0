import type { CommitStatus } from '../../../core/ports.ts';
import { sha256 } from '../../../runtime/sha256.ts';
import { escapedPath, type ForgeDialect, shortDescription } from '../request/forge-dialect.ts';

const STATES = {
  pending: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'FAILED',
} as const;

const bearer = (token: string): string => `Bearer ${token}`;

/**
 * Bitbucket Cloud, with access tokens of a repository, project or workspace.
 * Source: developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses.
 */
export const CLOUD_DIALECT: ForgeDialect = {
  authorization: bearer,
  address: ({ host, path }) =>
    host === 'bitbucket.org' ? { apiUrl: 'https://api.bitbucket.org/2.0', repository: path } : undefined,
  status: (repository, status) => ({
    path: `/repositories/${escapedPath(repository)}/commit/${status.commit}/statuses/build`,
    body: buildStatus(status, 'https://bitbucket.org'),
  }),
};

/**
 * Bitbucket Data Center from 7.14, with HTTP access tokens.
 * Source: developer.atlassian.com/server/bitbucket/rest, "Builds and Deployments".
 */
export const DATA_CENTER_DIALECT: ForgeDialect = {
  authorization: bearer,
  address: ({ base, path }) => {
    // An https path has /scm/ before the project, after the path of the server if it has one. An ssh path has neither.
    const [, context = '', rest = ''] = /^(?:(.*?)\/)?scm\/(.+)$/.exec(path) ?? [undefined, '', path];
    return {
      apiUrl: `${base}${context === '' ? '' : `/${context}`}/rest/api/latest`,
      repository: rest,
    };
  },
  status: (repository, status) => ({
    path: `${dataCenterPath(repository)}/commits/${status.commit}/builds`,
    body: buildStatus(status, 'https://bitbucket.org'),
  }),
};

export function dataCenterPath(repository: string): string {
  const [project = '', slug = ''] = repository.split('/').map(encodeURIComponent);
  return `/projects/${project}/repos/${slug}`;
}

/** @param defaultUrl for a status without a URL, which Bitbucket requires */
function buildStatus(status: CommitStatus, defaultUrl: string): object {
  const { context, state, targetUrl = defaultUrl } = status;
  return {
    // Keys are limited to 40 characters. A hash keeps the keys of long contexts unique.
    key: context.length <= 40 ? context : sha256(context).slice(0, 40),
    name: context,
    state: STATES[state],
    description: shortDescription(status),
    url: targetUrl,
  };
}
