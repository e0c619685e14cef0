import type { CommitStatus } from './contract/pull-request-forge.ts';
import { FORGE_DIALECTS } from './dialects.ts';
import type { ForgeRepository } from './request/forge-repository.ts';
import { forgeRequest } from './request/forge-request.ts';

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
