import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { PRUNE_ANNOTATION } from '../../sync/applied/departure.ts';
import type { KnownSecret } from './cluster-secret.ts';
import { withoutSlash } from './known-secret.ts';

export type RemovalStep =
  | { readonly kind: 'remove'; readonly consented: boolean }
  | { readonly kind: 'keep'; readonly applications: readonly string[] };

/**
 * Removing a cluster Secret removes the cluster from Argo CD: ApplicationSets delete its Applications and orphan the
 * workload on the cluster. So the Secret is removed only if no Application needs it, or if it has the annotation
 * `berth.dev/prune: enabled`.
 * @param applications of all namespaces, as on the hub now
 */
export function planRemoval(secret: KnownSecret, applications: readonly KubeObject[]): RemovalStep {
  const left = applicationsOf(secret, applications);
  const consented = secret.metadata.annotations?.[PRUNE_ANNOTATION] === 'enabled';
  if (left.length === 0 || consented) return { kind: 'remove', consented: left.length > 0 };
  return { kind: 'keep', applications: left };
}

/** On an Application: the ManagedCluster that pulls it in the basic pull model. */
const PULL_CLUSTER_ANNOTATION = 'apps.open-cluster-management.io/ocm-managed-cluster';

/** Names (`namespace/name`) of the Applications that need this cluster Secret, sorted. */
function applicationsOf(
  { name, server }: Pick<KnownSecret, 'name' | 'server'>,
  applications: readonly KubeObject[],
): readonly string[] {
  return applications
    .filter((application) => {
      const { spec } = application as {
        readonly spec?: { readonly destination?: { readonly name?: string; readonly server?: string } };
      };
      const destination = spec?.destination ?? {};
      const pulled = application.metadata.annotations?.[PULL_CLUSTER_ANNOTATION];
      return (
        destination.name === name ||
        (destination.server !== undefined && withoutSlash(destination.server) === server) ||
        pulled === name
      );
    })
    .map(({ metadata }) => namespacedName(metadata))
    .sort();
}
