import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { formatAge } from './format-age.ts';
import { workRow } from '../work/describe-work.ts';
import type { Listed } from './listed.ts';

/**
 * The columns of `clusteradm get works`, and two more: degraded, and the age.
 * Source: open-cluster-management.io/clusteradm `pkg/cmd/get/work`.
 */
export function listWorks(works: readonly ManifestWork[], nowMs: number): Listed {
  const ageOf = ({ metadata }: ManifestWork): string =>
    formatAge(nowMs - Date.parse(metadata.creationTimestamp ?? ''));
  return {
    header: ['NAME', 'CLUSTER', 'NUMBER OF MANIFESTS', 'APPLIED', 'AVAILABLE', 'DEGRADED', 'AGE'],
    rows: works.map((work) => [...workRow(work), ageOf(work)]),
  };
}
