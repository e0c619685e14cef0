/** A bootstrap kubeconfig of a list, and whether its hub would have the cluster. */
export interface HubCandidate {
  readonly server: string;
  /** It answers, grants what a registration needs, and has not denied the cluster. */
  readonly passes: boolean;
}

/**
 * Which hub of a list an agent works with: the one it is registered at while that will have it, else the first in order that will.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/bootstrapkubeconfigsmanager.go`.
 * @param current server of the hub kubeconfig that the agent holds
 * @returns a position in the list; undefined: none will have it now
 */
export function chooseHub(
  candidates: readonly HubCandidate[],
  current: string | undefined,
): number | undefined {
  const kept = candidates.findIndex(({ server, passes }) => passes && server === current);
  const chosen = kept >= 0 ? kept : candidates.findIndex(({ passes }) => passes);
  return chosen < 0 ? undefined : chosen;
}
