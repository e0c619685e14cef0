/** A bootstrap kubeconfig of a list, and whether its hub accepts the cluster. */
export interface HubCandidate {
  readonly server: string;
  /** The hub answers, grants the rights for a registration, and has not denied the cluster. */
  readonly passes: boolean;
}

/**
 * Chooses the hub of an agent from a list: the current one while it accepts the cluster, otherwise the first one that
 * does.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/bootstrapkubeconfigsmanager.go`.
 * @param current server of the hub kubeconfig that the agent has
 * @returns the index in the list; undefined if no hub accepts the cluster now
 */
export function chooseHub(
  candidates: readonly HubCandidate[],
  current: string | undefined,
): number | undefined {
  const kept = candidates.findIndex(({ server, passes }) => passes && server === current);
  const chosen = kept >= 0 ? kept : candidates.findIndex(({ passes }) => passes);
  return chosen < 0 ? undefined : chosen;
}
