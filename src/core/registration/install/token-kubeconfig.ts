/** The connection to a server. */
export interface ServerEntry {
  readonly server: string;
  /** Base64. Absent: the authorities that the machine trusts are used. */
  readonly caData?: string | undefined;
  readonly proxyUrl?: string | undefined;
}

/** Names of the entries. The agent keeps the name of the cluster entry. */
export interface EntryNames {
  readonly cluster: string;
  readonly user: string;
  readonly context: string;
}

/** The same names as in the bootstrap kubeconfig that OCM's installer writes. */
export const BOOTSTRAP_ENTRIES: EntryNames = { cluster: 'hub', user: 'bootstrap', context: 'bootstrap' };

/** A kubeconfig for one user with a token, as a value. It is written as JSON, which is valid YAML. */
export function tokenKubeconfig(names: EntryNames, entry: ServerEntry, token: string): object {
  const { server, caData, proxyUrl } = entry;
  const cluster = {
    server,
    ...(caData !== undefined && { 'certificate-authority-data': caData }),
    ...(proxyUrl !== undefined && { 'proxy-url': proxyUrl }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: names.cluster, cluster }],
    users: [{ name: names.user, user: { token } }],
    contexts: [{ name: names.context, context: { cluster: names.cluster, user: names.user } }],
    'current-context': names.context,
  };
}
