import { BerthError } from '@berth/runtime/errors';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { AgentIdentity } from '@berth/ocm/registration/agent-identity';

/**
 * What a hub says of a cluster to a client. `forbidden`: it is not accepted, or not there any more; the hub takes the
 * rights of a deleted cluster. `refused`: the hub does not know the credentials. `unknown`: it does not answer.
 */
export type ClusterAnswer = 'found' | 'missing' | 'forbidden' | 'refused' | 'unknown';

export async function askForCluster(hub: KubeApi, { cluster }: AgentIdentity): Promise<ClusterAnswer> {
  try {
    const found = await hub.get(MANAGED_CLUSTER, { namespace: '', name: cluster });
    return found === undefined ? 'missing' : 'found';
  } catch (error) {
    return (error instanceof BerthError && ANSWERS[error.code]) || 'unknown';
  }
}

const ANSWERS: Readonly<Record<string, ClusterAnswer>> = {
  'kube.unauthorized': 'refused',
  'kube.forbidden': 'forbidden',
};
