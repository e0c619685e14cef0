/** The connection of an agent to its hub: the cluster of a kubeconfig's current context. */
export interface HubEntry {
  /** The name of the cluster entry. */
  readonly name: string;
  readonly server: string;
  readonly proxyUrl?: string | undefined;
  /** An absolute path. */
  readonly caFile?: string | undefined;
  /** Base64. */
  readonly caData?: string | undefined;
  readonly tlsServerName?: string | undefined;
}

/**
 * Whether a hub kubeconfig has the same connection as the bootstrap kubeconfig. If it differs, the agent registers
 * again with the latter. So a cluster that has joined gets a new address, authority or proxy.
 * Source: open-cluster-management.io/ocm `pkg/registration/register/common.go`, IsHubKubeConfigValid.
 */
export function sameHub(left: HubEntry, right: HubEntry): boolean {
  return FIELDS.every((field) => (left[field] ?? '') === (right[field] ?? ''));
}

/** The changed parts of the connection, for the log. Values may contain the password of the proxy. */
export function changedFields(left: HubEntry, right: HubEntry): readonly string[] {
  return FIELDS.filter((field) => (left[field] ?? '') !== (right[field] ?? ''));
}

const FIELDS = ['name', 'server', 'proxyUrl', 'caFile', 'caData', 'tlsServerName'] as const;

/** How the user of a kubeconfig authenticates: by files beside it. */
export const KUBECONFIG_USER = {
  csr: { 'client-certificate': 'tls.crt', 'client-key': 'tls.key' },
  token: { tokenFile: 'token' },
} as const;

/**
 * The kubeconfig of an agent that has a certificate, or of an add-on's agent, as a value.
 * `insecure-skip-tls-verify` is never copied.
 * Source: open-cluster-management.io/ocm `pkg/registration/register/secret_controller.go`, GenerateBootstrapStatus and
 * `register/csr/csr_driver.go` (BuildKubeConfigFromTemplate).
 */
export function hubKubeconfig(entry: HubEntry, driver: keyof typeof KUBECONFIG_USER = 'csr'): object {
  const cluster = {
    server: entry.server,
    ...(entry.caFile && { 'certificate-authority': entry.caFile }),
    ...(entry.caData && { 'certificate-authority-data': entry.caData }),
    ...(entry.proxyUrl && { 'proxy-url': entry.proxyUrl }),
    ...(entry.tlsServerName && { 'tls-server-name': entry.tlsServerName }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: entry.name, cluster }],
    contexts: [
      {
        name: 'default-context',
        context: { cluster: entry.name, namespace: 'configuration', user: 'default-auth' },
      },
    ],
    'current-context': 'default-context',
    users: [{ name: 'default-auth', user: KUBECONFIG_USER[driver] }],
  };
}
