import type { FieldValue, ManifestCondition, ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { Condition } from '@berth/kube/model/object-meta';
import { printableLines } from '@berth/runtime/text/printable';
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

/** The complete status of a work as text. Conditions with problems show their message. */
export function describeWork(work: ManifestWork): string {
  const { name, namespace = '', generation, labels = {} } = work.metadata;
  const lines = [
    `Name:        ${name}`,
    `Cluster:     ${namespace}`,
    `Generation:  ${generation ?? 0}`,
    ...Object.entries(labels).map(
      ([key, value], index) => `${index === 0 ? 'Labels:      ' : '             '}${key}=${value}`,
    ),
    'Conditions:',
    ...(work.status?.conditions ?? []).map((condition) => conditionLine(condition, generation)),
    'Manifests:',
    ...(work.status?.resourceStatus?.manifests ?? []).flatMap(manifestLines),
  ];
  if (work.status?.resourceStatus?.manifests === undefined)
    lines.push(
      `  ${work.spec?.workload?.manifests?.length ?? 0} manifests, nothing reported by the cluster yet`,
    );
  return printableLines(lines);
}

function conditionLine(condition: Condition, generation: number | undefined): string {
  const old =
    condition.observedGeneration !== undefined && condition.observedGeneration !== generation
      ? ` (of generation ${condition.observedGeneration})`
      : '';
  return `  ${condition.type.padEnd(12)} ${condition.status.padEnd(7)} ${condition.reason}: ${condition.message}${old}`;
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
    `  [${ordinal}] ${kind} ${namespace === '' ? name : `${namespace}/${name}`}${values.length === 0 ? '' : `  ${values.join(' ')}`}`,
    ...failing.map(({ type, status, message }) => `      ${type} ${status}: ${message}`),
  ];
}

function valueText(value: FieldValue): string {
  return String(value.integer ?? value.string ?? value.boolean ?? value.jsonRaw ?? '');
}
