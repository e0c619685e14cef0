import { sha256 } from '../../runtime/sha256.ts';
import { scmRequest } from './scm-request.ts';

export interface CommitStatus {
  readonly commit: string;
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  /** One sentence; forges cut it at 140 characters, so do we. */
  readonly description: string;
  /** Identifies our statuses: `berth/fleet`. */
  readonly context: string;
  /** Where to read more; Bitbucket insists on one. */
  readonly targetUrl?: string | undefined;
}

/** Where statuses go. `repository` is `owner/name`; GitLab's project path; `organisation/project/repository` on Azure DevOps. */
export interface CommitStatusTarget {
  readonly provider: 'github' | 'gitlab' | 'gitea' | 'bitbucket' | 'azure-devops';
  /** Base of the API: `https://api.github.com`, `https://gitlab.example/api/v4`, `https://gitea.example/api/v1`, … */
  readonly apiUrl: string;
  readonly repository: string;
  readonly token: () => Promise<string>;
}

const MAX_DESCRIPTION = 140;
const GITLAB_STATES = { pending: 'pending', success: 'success', failure: 'failed', error: 'failed' } as const;
const BITBUCKET_STATES = {
  pending: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'FAILED',
} as const;
const AZURE_STATES = { pending: 'pending', success: 'succeeded', failure: 'failed', error: 'error' } as const;

/** Writes a status to a commit; writing the same one again replaces it. Errors as of scmRequest. */
export async function postCommitStatus(
  target: CommitStatusTarget,
  status: CommitStatus,
  signal?: AbortSignal,
): Promise<void> {
  const { url, body, authorization } = requestOf(target, status, await target.token());
  await scmRequest({
    url: `${target.apiUrl.replace(/\/+$/, '')}${url}`,
    method: 'POST',
    headers: { authorization, accept: 'application/json' },
    body,
    subject: `Commit status of ${target.repository}@${status.commit.slice(0, 12)}`,
    signal,
  });
}

function requestOf(
  { provider, repository }: CommitStatusTarget,
  { commit, state, description, context, targetUrl }: CommitStatus,
  token: string,
): { readonly url: string; readonly body: object; readonly authorization: string } {
  const short =
    description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION - 1)}…` : description;
  const link = targetUrl === undefined ? {} : { target_url: targetUrl };
  const bearer = `Bearer ${token}`;
  const path = repository.split('/').map(encodeURIComponent).join('/');
  switch (provider) {
    case 'github':
      return {
        url: `/repos/${path}/statuses/${commit}`,
        body: { state, description: short, context, ...link },
        authorization: bearer,
      };
    case 'gitea':
      return {
        url: `/repos/${path}/statuses/${commit}`,
        body: { state, description: short, context, ...link },
        authorization: `token ${token}`,
      };
    case 'gitlab':
      return {
        url: `/projects/${encodeURIComponent(repository)}/statuses/${commit}`,
        body: { state: GITLAB_STATES[state], description: short, name: context, ...link },
        authorization: bearer,
      };
    case 'bitbucket': {
      // Keys are limited to 40 characters; a hash keeps long contexts apart.
      const key = context.length <= 40 ? context : sha256(context).slice(0, 40);
      const url = targetUrl ?? 'https://bitbucket.org';
      return {
        url: `/repositories/${path}/commit/${commit}/statuses/build`,
        body: { key, name: context, state: BITBUCKET_STATES[state], description: short, url },
        authorization: bearer,
      };
    }
    case 'azure-devops': {
      const [organisation = '', project = '', name = ''] = repository.split('/').map(encodeURIComponent);
      const [genre = '', ...rest] = context.split('/');
      return {
        url: `/${organisation}/${project}/_apis/git/repositories/${name}/commits/${commit}/statuses?api-version=7.1`,
        body: {
          state: AZURE_STATES[state],
          description: short,
          context: { genre, name: rest.join('/') || genre },
          ...(targetUrl === undefined ? {} : { targetUrl }),
        },
        authorization: `Basic ${Buffer.from(`:${token}`).toString('base64')}`,
      };
    }
  }
}
