import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { KnownSecret } from './cluster-secret.ts';
import { withoutSlash } from './known-secret.ts';

/** On an Application: the ManagedCluster that pulls it in the basic pull model. */
const PULL_CLUSTER_ANNOTATION = 'apps.open-cluster-management.io/ocm-managed-cluster';

/** Names (`namespace/name`) of the Applications that need this cluster Secret, sorted. */
export function applicationsOf(
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
