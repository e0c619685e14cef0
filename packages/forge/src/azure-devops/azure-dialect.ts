import type { CommitStatus } from '../contract/pull-request-forge.ts';
import { type ForgeDialect, shortDescription } from '../request/forge-dialect.ts';

const STATES = { pending: 'pending', success: 'succeeded', failure: 'failed', error: 'error' } as const;
export const API_VERSION = 'api-version=7.1';

/**
 * Azure DevOps Services and Azure DevOps Server 2022.1, with personal access tokens.
 * Source: learn.microsoft.com/rest/api/azure/devops/git, "Statuses" and "Pull Request Statuses".
 */
export const AZURE_DIALECT: ForgeDialect = {
  // Azure DevOps ignores the user name of the token.
  authorization: (token) => `Basic ${Buffer.from(`:${token}`).toString('base64')}`,
  apiOf: ({ path }) => ({
    apiUrl: 'https://dev.azure.com',
    repository: path.replace(/^v3\//, '').replace('/_git/', '/'),
  }),
  status: (repository, status) => ({
    path: `${azureRepositoryPath(repository)}/commits/${status.commit}/statuses?${API_VERSION}`,
    body: azureStatus(status),
  }),
};

/** The parts of `organisation/project/repository`. On a self-hosted server, the path may have more parts before the project. */
export function azureParts(repository: string): {
  readonly organisation: string;
  readonly project: string;
  readonly name: string;
} {
  const parts = repository.split('/').map(encodeURIComponent);
  const [project = '', name = ''] = parts.slice(-2);
  return { organisation: parts.slice(0, -2).join('/'), project, name };
}

export function azureRepositoryPath(repository: string): string {
  const { organisation, project, name } = azureParts(repository);
  return `/${organisation}/${project}/_apis/git/repositories/${name}`;
}

/** Branch policies identify a status by genre and name: `berth` and `preview/fleet`. */
export function azureStatus(status: CommitStatus): object {
  const [genre = '', ...rest] = status.context.split('/');
  return {
    state: STATES[status.state],
    description: shortDescription(status),
    context: { genre, name: rest.join('/') || genre },
    ...(status.targetUrl !== undefined && { targetUrl: status.targetUrl }),
  };
}
