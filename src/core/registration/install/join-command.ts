/** What a cluster needs to join. */
export interface JoinTicket {
  /** The token of the bootstrap account. */
  readonly token: string;
  /** URL of the hub's API server. */
  readonly server: string;
  /**
   * Hashes of the public keys of its authorities, each `sha256:` and 64 digits. Empty if the machines trust the hub.
   */
  readonly caHashes: readonly string[];
}

/**
 * The command to run on a cluster; the user adds the name of the cluster.
 * @param wait whether it has `--wait`
 */
export function joinCommand({ token, server, caHashes }: JoinTicket, wait: boolean): string {
  const pins = caHashes.map((hash) => ` --discovery-token-ca-cert-hash ${hash}`).join('');
  const waiting = wait ? ' --wait' : '';
  return `berth join --hub-token ${token} --hub-apiserver ${server}${pins}${waiting} --cluster-name <cluster_name>`;
}

/** The output for programs. Source of the first keys: open-cluster-management.io/clusteradm `pkg/cmd/get/token`. */
export function joinTicketValue({ token, server, caHashes }: JoinTicket): object {
  return { 'hub-token': token, 'hub-apiserver': server, 'discovery-token-ca-cert-hashes': caHashes };
}
