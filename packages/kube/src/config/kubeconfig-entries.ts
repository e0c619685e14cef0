import type { ExecPluginConfig } from '../exec/exec-credential.ts';

/** The cluster of a kubeconfig. Empty texts count as absent. */
export interface KubeCluster {
  readonly name: string;
  /** As written, but without a trailing `/`: `https://host:6443/prefix`, or `host:6443`. */
  readonly server: string;
  readonly caFile?: string;
  /** Base64. */
  readonly caData?: string;
  readonly skipTLSVerify?: boolean;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  readonly disableCompression?: boolean;
  /** The configuration of the cluster for exec plugins: the extension `client.authentication.k8s.io/exec`. */
  readonly execConfig?: unknown;
}

/** The user of a kubeconfig. Files are absolute paths; data is base64. */
export interface KubeUser {
  readonly name: string;
  readonly certFile?: string;
  readonly certData?: string;
  readonly keyFile?: string;
  readonly keyData?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly impersonateUser?: string;
  readonly impersonateUid?: string;
  readonly impersonateGroups?: readonly string[];
  readonly impersonateExtra?: Readonly<Record<string, readonly string[]>>;
  readonly exec?: ExecPluginConfig;
  readonly authProvider?: AuthProvider;
}

export interface AuthProvider {
  readonly name: string;
  readonly config: Readonly<Record<string, string>>;
}

export interface KubeContext {
  readonly name: string;
  /** '' if the context names none. */
  readonly cluster: string;
  /** '' if the context names none. */
  readonly user: string;
  readonly namespace?: string;
}

/** One kubeconfig, or several merged ones. A look-up returns the first entry with a name. */
export interface KubeConfigParts {
  readonly clusters: readonly KubeCluster[];
  readonly users: readonly KubeUser[];
  readonly contexts: readonly KubeContext[];
  /** The name of the context in use; undefined if the kubeconfig has no current-context. */
  readonly currentContext: string | undefined;
}

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
