import { existsSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import type { KubeConfigParts } from './kube-config.ts';

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const NAME = 'in-cluster';

/** Is this a pod with a service account? */
export function isInCluster(): boolean {
  return existsSync(`${ACCOUNT}/token`);
}

/** The cluster that this pod runs in, as its service account: the files and variables that every pod has. */
export function inClusterConfig(env: NodeJS.ProcessEnv = process.env): KubeConfigParts {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (host === '') throw new Error('KUBERNETES_SERVICE_HOST is not set: this is no pod');
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return {
    clusters: [{ name: NAME, server, caFile: `${ACCOUNT}/ca.crt`, skipTLSVerify: false }],
    users: [{ name: NAME, authProvider: { name: 'tokenFile', config: { tokenFile: `${ACCOUNT}/token` } } }],
    contexts: [{ name: NAME, cluster: NAME, user: NAME }],
    currentContext: NAME,
  };
}
