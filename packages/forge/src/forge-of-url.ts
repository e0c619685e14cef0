import { isLoopbackHost } from '@berth/runtime/loopback-host';
import { AZURE_DIALECT } from './azure-devops/azure-dialect.ts';
import { BITBUCKET_CLOUD_DIALECT, BITBUCKET_DATA_CENTER_DIALECT } from './bitbucket/bitbucket-dialect.ts';
import type { CommitStatus } from './contract/pull-request-forge.ts';
import { GITEA_DIALECT, GITHUB_DIALECT } from './github-like/github-like-dialects.ts';
import { GITLAB_DIALECT } from './gitlab/gitlab-dialect.ts';
import type { ForgeDialect } from './request/forge-dialect.ts';
import type { ForgeProvider, ForgeRepository } from './request/forge-repository.ts';
import { forgeRequest } from './request/forge-request.ts';

/**
 * Derives from the URL of a repository the address of its forge's API, and the name of the repository there. Undefined
 * for an address that is not a URL (a path), and for a forge whose API Berth does not know.
 */
export function forgeOfUrl(
  provider: ForgeRepository['provider'],
  url: string,
): Pick<ForgeRepository, 'apiUrl' | 'repository'> | undefined {
  // The form of scp: git@host:path.
  const scp = /^(?:[^@/:]+@)?([^/:@]+):(?!\/\/)(.+)$/.exec(url);
  const parsed = scp === null && URL.canParse(url) ? new URL(url) : undefined;
  const host = scp?.[1] ?? parsed?.host ?? '';
  const path = (scp?.[2] ?? unescaped(parsed?.pathname ?? '')).replace(/^\/+|\/+$/g, '');
  if (host === '' || path === '') return undefined;
  // A token is sent without TLS only inside this machine.
  const scheme = parsed?.protocol === 'http:' && isLoopbackHost(parsed.hostname) ? 'http' : 'https';
  // The port of an ssh URL says nothing about https.
  const base = `${scheme}://${parsed?.protocol === 'ssh:' ? parsed.hostname : host}`;
  return FORGE_DIALECTS[provider].apiOf({ host, base, path: path.replace(/\.git$/, '') });
}

/** Returns the text unchanged if its percent-encoding is invalid. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const FORGE_DIALECTS: Readonly<Record<ForgeProvider, ForgeDialect>> = {
  gitea: GITEA_DIALECT,
  github: GITHUB_DIALECT,
  gitlab: GITLAB_DIALECT,
  bitbucket: BITBUCKET_CLOUD_DIALECT,
  'bitbucket-data-center': BITBUCKET_DATA_CENTER_DIALECT,
  'azure-devops': AZURE_DIALECT,
};

/**
 * Writes a status to a commit. Writing the same context again replaces it.
 * @throws the errors of forgeRequest
 */
export async function postCommitStatus(
  target: ForgeRepository,
  status: CommitStatus,
  signal?: AbortSignal,
): Promise<void> {
  const dialect = FORGE_DIALECTS[target.provider];
  const { path, body } = dialect.status(target.repository, status);
  await forgeRequest({
    url: `${target.apiUrl.replace(/\/+$/, '')}${path}`,
    method: 'POST',
    headers: { authorization: dialect.authorization(await target.token()), accept: 'application/json' },
    body,
    subject: `Commit status of ${target.repository}@${status.commit.slice(0, 12)}`,
    signal,
  });
}
