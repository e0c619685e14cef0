import { existsSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import type { KubeConfigParts } from './kubeconfig-entries.ts';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
export const SERVICE_ACCOUNT_TOKEN_FILE = `${ACCOUNT}/token`;
const NAME = 'in-cluster';

/** Whether this process runs in a pod: the kubelet sets the address of the API server in every container. */
export function isInPod(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env['KUBERNETES_SERVICE_HOST']);
}

/** Whether this process runs in a pod into which the token of its service account is mounted. */
export function hasServiceAccountToken(): boolean {
  return existsSync(SERVICE_ACCOUNT_TOKEN_FILE);
}

/**
 * The API server of the cluster that this pod runs in, with the service account of the pod. The token is read when it
 * is needed, not here.
 * @throws Error if this process does not run in a pod
 */
export function inClusterConfig(env: NodeJS.ProcessEnv = process.env): KubeConfigParts {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (host === '') throw new Error('KUBERNETES_SERVICE_HOST is not set: this process does not run in a pod');
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return {
    clusters: [{ name: NAME, server, caFile: `${ACCOUNT}/ca.crt`, skipTLSVerify: false }],
    users: [{ name: NAME, tokenFile: SERVICE_ACCOUNT_TOKEN_FILE }],
    contexts: [{ name: NAME, cluster: NAME, user: NAME }],
    currentContext: NAME,
  };
}
