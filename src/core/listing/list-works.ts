import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
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

/**
 * Age the way kubectl prints it: `42s`, `5m10s`, `3h`, `12d`.
 * @param ageMs not negative
 */
function formatAge(ageMs: number): string {
  const seconds = Math.max(0, Math.floor(ageMs / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}
