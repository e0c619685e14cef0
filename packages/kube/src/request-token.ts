import { InputError } from '@berth/runtime/errors';
import { SERVICE_ACCOUNT } from './model/kinds.ts';
import type { KubeObject } from './model/object-meta.ts';
import type { KubeApi } from './model/kube-api.ts';

/**
 * Requests a new token of a service account. The server may shorten the requested lifetime.
 * Source: kubernetes/api `authentication/v1`, TokenRequest.
 * @throws InputError `kube.notfound` if the account does not exist; the errors of the API
 */
export async function requestToken(
  api: KubeApi,
  account: { readonly namespace: string; readonly name: string },
  expirationSeconds: number,
): Promise<string> {
  const request: KubeObject = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: account,
    spec: { expirationSeconds },
  };
  const { status } = (await api.create(SERVICE_ACCOUNT, request, { subresource: 'token' })) as KubeObject & {
    readonly status?: { readonly token?: string };
  };
  if (status?.token !== undefined) return status.token;
  throw new InputError('the response of the server has no token', {
    code: 'install.token',
    subject: `ServiceAccount ${account.namespace}/${account.name}`,
  });
}
