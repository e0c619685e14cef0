import type { FieldValue, ManifestCondition, ManifestWork } from '@berth/ocm/kind/manifest-work';
import { findCondition } from '@berth/kube/model/condition-list';

/**
 * One line of `berth get works`: name, cluster, manifests, applied, available, degraded (`-`: no
 * condition rule).
 */
export function workRow(work: ManifestWork): readonly string[] {
  const { name, namespace = '', generation } = work.metadata;
  const conditions = work.status?.conditions;
  const applied = findCondition(conditions, 'Applied');
  const stale = applied !== undefined && applied.observedGeneration !== generation;
  return [
    name,
    namespace,
    String(work.spec?.workload?.manifests?.length ?? 0),
    stale ? 'Pending' : (applied?.status ?? 'Unknown'),
    findCondition(conditions, 'Available')?.status ?? 'Unknown',
    findCondition(conditions, 'Degraded')?.status ?? '-',
  ];
}

/** Each manifest of a work: its feedback, and what is wrong with it. */
export function describeManifests({ spec, status }: ManifestWork): readonly string[] {
  const manifests = status?.resourceStatus?.manifests;
  const count = spec?.workload?.manifests?.length ?? 0;
  return manifests?.flatMap(manifestLines) ?? [`${count} manifests, nothing reported by the cluster yet`];
}

function manifestLines({ resourceMeta, conditions, statusFeedback }: ManifestCondition): readonly string[] {
  const { kind = '?', namespace = '', name = '', ordinal } = resourceMeta;
  const failing = (conditions ?? []).filter(
    ({ status, type }) => status !== (type === 'Degraded' ? 'False' : 'True') && type !== 'Progressing',
  );
  const values = (statusFeedback?.values ?? []).map(
    ({ name: key, fieldValue }) => `${key}=${valueText(fieldValue)}`,
  );
  return [
    `[${ordinal}] ${kind} ${namespace === '' ? name : `${namespace}/${name}`}${values.length === 0 ? '' : `  ${values.join(' ')}`}`,
    ...failing.map(({ type, status, message }) => `  ${type} ${status}: ${message}`),
  ];
}

function valueText(value: FieldValue): string {
  return String(value.integer ?? value.string ?? value.boolean ?? value.jsonRaw ?? '');
}
