/** How an agent reaches its hub: the cluster of a kubeconfig's current context. */
export interface HubEntry {
  /** Of the cluster entry. */
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
 * Whether a hub kubeconfig leads where the bootstrap kubeconfig does. Where it does not, the agent begins again with the latter: so a
 * new address, authority or proxy reaches a cluster that has joined.
 * Source: open-cluster-management.io/ocm `pkg/registration/register/common.go`, IsHubKubeConfigValid.
 */
export function sameHub(left: HubEntry, right: HubEntry): boolean {
  return FIELDS.every((field) => (left[field] ?? '') === (right[field] ?? ''));
}

/** What of the way to the hub is another, for the log. Values may hold a password of the proxy. */
export function changedFields(left: HubEntry, right: HubEntry): readonly string[] {
  return FIELDS.filter((field) => (left[field] ?? '') !== (right[field] ?? ''));
}

const FIELDS = ['name', 'server', 'proxyUrl', 'caFile', 'caData', 'tlsServerName'] as const;

/**
 * The kubeconfig that an agent works with once it has a certificate, as a value. The certificate and the key are files beside it. That the
 * server's certificate need not be checked is never copied.
 * Source: open-cluster-management.io/ocm `pkg/registration/register/secret_controller.go`, GenerateBootstrapStatus and
 * `register/csr/csr_driver.go` (BuildKubeConfigFromTemplate).
 */
export function hubKubeconfig(entry: HubEntry): object {
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
    users: [{ name: 'default-auth', user: { 'client-certificate': 'tls.crt', 'client-key': 'tls.key' } }],
  };
}
