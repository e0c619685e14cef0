import type { KubeCluster } from './kubeconfig-entries.ts';

/**
 * The URL of a cluster's server. It ends in `/`, and has no query or fragment. Undefined if the server is not a valid
 * URL. kubectl accepts `host:port` as a server without TLS, and sends it no credentials. This is probably a mistake, so
 * it is refused here.
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
