import { parse } from 'yaml';

/**
 * The kubeconfig of an administrator who acts as a service account of Argo CD.
 * @returns JSON, which is YAML as well
 */
export function asServiceAccount(kubeconfig: string, account: string): string {
  const config = parse(kubeconfig) as { readonly users: readonly { readonly user: object }[] };
  const as = `system:serviceaccount:argocd:${account}`;
  const users = config.users.map((one) => ({ ...one, user: { ...one.user, as } }));
  return JSON.stringify({ ...config, users });
}
