import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { REMOVAL_WINDOW_MS } from '../../publish/judge/removal-budget.ts';

/**
 * Clusters that may still run a copy that a newer one replaces. Their removal was requested at the creation of the
 * newer copy or later, and they are unreachable. The ApplicationSet controller creates the new Application shortly before
 * it deletes the old one.
 * @param work the newer copy
 * @param others works of the same ApplicationSet
 */
export function unconfirmedCopies(
  work: ManifestWork,
  others: readonly ManifestWork[],
  isUnreachable: (cluster: string) => boolean,
): readonly string[] {
  const createdMs = Date.parse(work.metadata.creationTimestamp ?? '');
  const clusters = others.flatMap(({ metadata }) => {
    const { namespace = '', deletionTimestamp } = metadata;
    if (deletionTimestamp === undefined || namespace === work.metadata.namespace) return [];
    const isReplaced = createdMs >= Date.parse(deletionTimestamp) - REMOVAL_WINDOW_MS;
    return isReplaced && isUnreachable(namespace) ? [namespace] : [];
  });
  return [...new Set(clusters)].sort();
}
