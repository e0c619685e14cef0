import type { KubeObject } from '@berth/kube/model/object-meta';
import { PRUNE_ANNOTATION } from '../../sync/applied/departure.ts';
import { applicationsOf } from './applications-of.ts';
import type { KnownSecret } from './cluster-secret.ts';

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
