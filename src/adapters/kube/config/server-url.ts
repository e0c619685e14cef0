import type { KubeCluster } from './kubeconfig-entries.ts';

/**
 * The URL of a cluster's server, which ends in `/`, without query and fragment. Undefined: what the cluster names is no URL of a server.
 * kubectl takes `host:port` for a server without TLS, which it tells no credentials: hardly what was meant, so it is no URL here.
 * Source of the rules: kubernetes/client-go, tools/clientcmd/client_config.go (ClientConfig), rest/url_utils.go (DefaultServerURL).
 */
export function serverUrl(cluster: KubeCluster | undefined): URL | undefined {
  const server = cluster?.server ?? '';
  if (!/^https?:\/\//i.test(server) || !URL.canParse(server)) return undefined;
  const base = new URL(server);
  base.search = '';
  base.hash = '';
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return base;
}
