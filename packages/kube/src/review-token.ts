import { kind } from './model/kinds.ts';
import type { KubeApi } from './model/kube-api.ts';
import type { KubeObject } from './model/object-meta.ts';

/** Who a token belongs to: `status.user` of a TokenReview. */
export interface TokenUser {
  readonly username: string;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

const TOKEN_REVIEW = kind('authentication.k8s.io', 'v1', 'TokenReview', 'Cluster');

/**
 * Asks an API server whose token it is. Source: kubernetes/api `authentication/v1`, TokenReview.
 * @returns undefined if the server does not accept the token
 * @throws the errors of the API
 */
export async function reviewToken(api: KubeApi, token: string): Promise<TokenUser | undefined> {
  const review = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: TOKEN_REVIEW.kind,
    metadata: { name: '' },
    spec: { token },
  };
  const { status } = (await api.create(TOKEN_REVIEW, review)) as KubeObject & {
    readonly status?: { readonly authenticated?: boolean; readonly user?: TokenUser };
  };
  return status?.authenticated === true && status.user?.username ? status.user : undefined;
}
