import type { KubeObject } from '@berth/kube/model/object-meta';

/**
 * Whether the status of a workload is about an older version of its spec: its controller has not seen the newest one.
 * Only for kinds whose controllers keep `observedGeneration` without fail; others may never write it again.
 */
export function hasOlderStatus({ apiVersion, metadata, status }: KubeObject): boolean {
  if (!apiVersion.startsWith('apps/')) return false;
  const { observedGeneration } = (status ?? {}) as { readonly observedGeneration?: unknown };
  return typeof observedGeneration === 'number' && observedGeneration < (metadata.generation ?? 0);
}
