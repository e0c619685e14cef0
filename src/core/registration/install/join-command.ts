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

/** The user replaces it. OCM's tool prints `<cluster_name>`, which a shell reads as a redirection. */
const NAME_TO_REPLACE = 'CLUSTER_NAME';

/** The last line below the printed command. */
export const REPLACE_THE_NAME = `Replace ${NAME_TO_REPLACE} with the name of the cluster, for example cluster1.`;

/** The command to run on a cluster; the user adds the name of the cluster. It waits until the agent has asked the hub. */
export function joinCommand({ token, server, caHashes }: JoinTicket): string {
  const pins = caHashes.map((hash) => ` --discovery-token-ca-cert-hash ${hash}`).join('');
  return `berth join --hub-token ${token} --hub-apiserver ${server}${pins} --wait --cluster-name ${NAME_TO_REPLACE}`;
}

/** The output for programs. Source of the first keys: open-cluster-management.io/clusteradm `pkg/cmd/get/token`. */
export function joinTicketValue({ token, server, caHashes }: JoinTicket): object {
  return { 'hub-token': token, 'hub-apiserver': server, 'discovery-token-ca-cert-hashes': caHashes };
}
