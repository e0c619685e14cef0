import { BerthError } from '../../../core/errors.ts';
import { MANAGED_CLUSTER } from '../../../core/model/kinds.ts';
import type { KubeApi } from '../../../core/ports.ts';
import type { AgentIdentity } from '../../../core/registration/agent-identity.ts';

/**
 * Whether the hub accepts the certificate of the client. Only a successful read of the cluster proves that it does; a
 * 401 proves that it does not.
 * @returns undefined if the response proves neither: the hub does not answer, or does not allow the read
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
