import type { RequestOptions } from 'node:https';
import { tlsOptions } from '@berth/kube/proxy/tls-material';
import { TransientError } from '@berth/runtime/errors';
import type { Gateway } from '../rules/cluster-gateway.ts';
import type { UserServerEntry } from '../rules/cluster-profile.ts';

/**
 * Where a request for a cluster goes, with the credential of its gateway. Through the tunnel it goes to the user server, which does not
 * know the token, and leaves it to the cluster.
 * @param path with query, for the cluster's API server
 * @throws TransientError while the way is not known, or not there
 */
export function clusterRequest(
  { name, endpoint, credential }: Gateway,
  path: string,
  userServer: UserServerEntry | undefined,
): RequestOptions & { readonly headers: Readonly<Record<string, string>> } {
  const problem = (text: string): TransientError =>
    new TransientError(text, { code: 'access.gateway', subject: `gateway of cluster ${name}` });
  const isTunnel = endpoint.type === 'ClusterProxy';
  if (isTunnel && credential.type !== 'ServiceAccountToken')
    throw problem('a client certificate does not go through the tunnel: the credential must be a token');
  if (isTunnel && userServer === undefined)
    throw problem('nobody has said where the user server is, which berth proxy serve does');
  const caPem = isTunnel ? userServer?.ca : endpoint.caPem;
  const { hostname, port, pathname, host } = new URL(
    isTunnel ? `${userServer?.url}/${name}` : endpoint.address,
  );
  const server = hostname.replace(/^\[|\]$/g, '');
  const { type } = credential;
  return {
    ...{ hostname: server, port: port || 443, path: pathname.replace(/\/$/, '') + path },
    ...tlsOptions(server, {
      ...(caPem ? { ca: Buffer.from(caPem) } : { rejectUnauthorized: caPem !== undefined }),
      ...(type === 'X509Certificate' && { cert: credential.cert, key: credential.key }),
    }),
    headers: {
      host,
      ...(type === 'ServiceAccountToken' && { authorization: `Bearer ${credential.token}` }),
    },
  };
}
