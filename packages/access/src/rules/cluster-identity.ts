import type { ImpersonatedUser } from '@berth/kube/config/impersonation-headers';
import type { TokenUser } from '@berth/kube/review-token';

/** As cluster-proxy names service accounts of the hub. */
const OF_THE_HUB = 'cluster:hub:';
const RESERVED = 'system:';
/** Everybody with a valid token is in it, in each cluster. */
const AUTHENTICATED = 'system:authenticated';
/** What the hub notes of the token itself means nothing elsewhere. */
const OF_THE_TOKEN = 'authentication.kubernetes.io/';

/**
 * Who a user of the hub is in a managed cluster. A name that Kubernetes reserves is another one there: `system:masters` of the hub
 * is no administrator of the cluster, and a service account of the hub is not the cluster's account of that name. Such names get a
 * prefix, so that the cluster can still give them rights.
 */
export function clusterIdentity({ username, groups = [], extra = {} }: TokenUser): ImpersonatedUser {
  return {
    user: inCluster(username),
    groups: groups.map((group) => (group === AUTHENTICATED ? group : inCluster(group))),
    extra: Object.fromEntries(Object.entries(extra).filter(([key]) => !key.startsWith(OF_THE_TOKEN))),
  };
}

function inCluster(name: string): string {
  // Nobody may have a name of the hub that looks as one that got the prefix.
  return name.startsWith(RESERVED) || name.startsWith(OF_THE_HUB) ? OF_THE_HUB + name : name;
}
