import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { APPLIED_MANIFEST_WORK, apiVersionOf, CLUSTER_CLAIM, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { wrongOption } from '../../flags/option-values.ts';

/** OCM's kinds that an agent needs on the managed cluster. */
const KINDS = [APPLIED_MANIFEST_WORK, CLUSTER_CLAIM];

/** The CRDs that are missing on the cluster. */
export async function agentDefinitions(api: KubeApi): Promise<readonly KubeObject[]> {
  const isServed = await Promise.all(KINDS.map((kind) => serves(api, kind)));
  return KINDS.filter((_kind, index) => isServed[index] === false).map(definitionOf);
}

/** The definitions of those kinds without an object on the cluster. */
export async function unusedDefinitions(api: KubeApi): Promise<readonly KubeObject[]> {
  const isUnused = await Promise.all(
    KINDS.map(async (kind) => (await serves(api, kind)) && (await api.list(kind)).items.length === 0),
  );
  return KINDS.filter((_kind, index) => isUnused[index] === true).map(definitionOf);
}

const serves = async (api: KubeApi, kind: KindInfo): Promise<boolean> =>
  (await api.resolve(apiVersionOf(kind), kind.kind)) !== undefined;

function definitionOf({ group, plural }: KindInfo): KubeObject {
  const [crd] = ocmCrds([group]).filter(
    ({ metadata }) => (metadata as { readonly name: string }).name === `${plural}.${group}`,
  );
  return crd as unknown as KubeObject;
}

/**
 * Checks that a kubeconfig is self-contained, since the agent does not run on this machine.
 * @throws InputError for one that names files or a program, or cannot be used
 */
export function checkManagedKubeconfig(text: string): void {
  const config = loadKubeConfig({ text });
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
  const outside = [
    ['certificate-authority', cluster?.caFile],
    ['client-certificate', user?.certFile],
    ['client-key', user?.keyFile],
    ['tokenFile', user?.tokenFile],
    ['exec', user?.exec],
    ['auth-provider', user?.authProvider],
  ] as const;
  const found = outside.find(([, value]) => value !== undefined);
  if (found !== undefined)
    throw wrongOption(
      '--managed-cluster-kubeconfig',
      `has the field ${found[0]}, expected certificates, keys and tokens in the file itself: kubectl config view --minify --flatten`,
    );
}
