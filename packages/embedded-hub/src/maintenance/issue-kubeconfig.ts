import { join } from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { nameProblem } from '@berth/kube/x509/certificate-subject';
import type { PemPair } from '@berth/kube/x509/self-signed-authority';
import { FRONT_PROXY } from '../auth/certificates/client-signer.ts';
import { readClientAuthority, readServingAuthority } from '../auth/certificates/key-store.ts';
import { type KubeconfigUser, renderKubeconfig } from '../auth/kubeconfig.ts';
import { Revocations } from '../auth/tokens/revocations.ts';
import { TokenFile } from '../auth/tokens/token-file.ts';
import { clustersIn, clusterTitle, lastServerUrl, REVOCATIONS_FILE, TOKEN_FILE } from './data-layout.ts';

const DAY_MS = 86_400_000;

export interface KubeconfigRequest {
  readonly dataDir: string;
  readonly user: string;
  readonly groups: readonly string[];
  /** '' is the hub. */
  readonly cluster: string;
  /** The URL for clients; default: the URL that the hub listens on. */
  readonly server?: string | undefined;
  /** Issues a client certificate with this lifetime instead of a token. */
  readonly certificateDays?: number | undefined;
}

/**
 * A kubeconfig with new credentials, which a running hub accepts immediately.
 * @throws InputError
 */
export async function issueKubeconfig(request: KubeconfigRequest, nowMs: number): Promise<string> {
  const { dataDir, user, groups, cluster } = request;
  requireName('--user', user);
  for (const group of groups) requireName('--group', group);
  const known = clustersIn(dataDir);
  if (!known.includes(cluster))
    throw new InputError(
      `got ${JSON.stringify(cluster)}, expected one of ${known.map(clusterTitle).join(', ')}`,
      {
        code: 'hub.unknown-cluster',
        subject: '--cluster',
      },
    );
  const url = request.server ?? lastServerUrl(dataDir);
  if (url === undefined)
    throw new InputError('the hub has not been started yet, so its address is unknown', {
      code: 'hub.no-address',
      subject: `data directory ${dataDir}`,
      hint: 'Start `berth hub` once, or give --server https://HOST:PORT.',
    });
  const days = request.certificateDays;
  // Certificates have times in whole seconds: one issued in the second of a revocation would be
  // rejected.
  const revokedMs = new Revocations(join(dataDir, REVOCATIONS_FILE)).untilMs(user) ?? 0;
  const issuedMs = Math.max(nowMs, revokedMs + 1000);
  const credentials: KubeconfigUser =
    days === undefined
      ? { kind: 'token', token: new TokenFile(join(dataDir, TOKEN_FILE)).issue({ name: user, groups }) }
      : {
          kind: 'certificate',
          ...(await issueCertificate(request, days, issuedMs)),
        };
  const server = cluster === '' ? url : `${url}/clusters/${cluster}`;
  return renderKubeconfig([{ name: clusterTitle(cluster), server }], readServingAuthority(dataDir), {
    name: user,
    credentials,
  });
}

async function issueCertificate(
  { dataDir, cluster, user, groups }: KubeconfigRequest,
  days: number,
  nowMs: number,
): Promise<PemPair> {
  if (user === FRONT_PROXY)
    throw new InputError(`got ${JSON.stringify(user)}, which only the hub itself may be`, {
      code: 'hub.user-name',
      subject: '--user',
    });
  const authority = await readClientAuthority(dataDir, cluster);
  return authority.issueClient({ commonName: user, organizations: groups }, nowMs, days * DAY_MS);
}

function requireName(option: string, name: string): void {
  const problem = nameProblem(name);
  if (problem === undefined) return;
  throw new InputError(`the name ${problem}`, { code: 'hub.user-name', subject: option });
}
