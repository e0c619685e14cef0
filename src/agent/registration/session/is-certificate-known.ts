import { BerthError } from '../../../core/errors.ts';
import { MANAGED_CLUSTER } from '../../../core/model/kinds.ts';
import type { KubeApi } from '../../../core/ports.ts';
import type { AgentIdentity } from '../../../core/registration/agent-identity.ts';

/**
 * Whether the hub knows the certificate of the client. Only a cluster that can be read proves it; a 401 proves the contrary.
 * @returns undefined: the answer says neither, as where the hub is away, or the cluster was taken from it
 */
export async function isCertificateKnown(
  hub: KubeApi,
  { cluster }: AgentIdentity,
): Promise<boolean | undefined> {
  try {
    const found = await hub.get(MANAGED_CLUSTER, { namespace: '', name: cluster });
    return found === undefined ? undefined : true;
  } catch (error) {
    return error instanceof BerthError && error.code === 'kube.unauthorized' ? false : undefined;
  }
}
