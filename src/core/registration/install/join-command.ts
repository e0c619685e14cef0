/** What a cluster needs to join. */
export interface JoinTicket {
  /** Of the bootstrap account. */
  readonly token: string;
  /** URL of the hub's API server. */
  readonly server: string;
}

/** The command that is run on a cluster, to be completed with its name. @param wait whether it has `--wait` */
export function joinCommand({ token, server }: JoinTicket, wait: boolean): string {
  const waiting = wait ? ' --wait' : '';
  return `berth join --hub-token ${token} --hub-apiserver ${server}${waiting} --cluster-name <cluster_name>`;
}

/** As programs read it. Source of the keys: open-cluster-management.io/clusteradm `pkg/cmd/get/token`. */
export function joinTicketValue({ token, server }: JoinTicket): object {
  return { 'hub-token': token, 'hub-apiserver': server };
}
