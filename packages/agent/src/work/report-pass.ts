import type { ManifestWork, ManifestWorkStatus } from '@berth/ocm/kind/manifest-work';
import { findCondition } from '@berth/kube/model/condition-list';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { FeedbackByObject } from '../options/agent-options.ts';
import type { AgentState } from '../state/agent-state.ts';
import type { ManifestResult } from '../apply/apply-manifests.ts';

/** Emits an event for each change of a pass. */
export function reportPass(
  state: AgentState,
  work: ManifestWork,
  status: ManifestWorkStatus,
  results: readonly ManifestResult[] | undefined,
): void {
  const { emit, clusterName } = state.settings;
  const identity = { cluster: clusterName, work: work.metadata.name };
  const before = findCondition(work.status?.conditions, 'Applied');
  const after = findCondition(status.conditions, 'Applied');
  const isChanged =
    after?.status !== before?.status || after?.observedGeneration !== before?.observedGeneration;
  if (isChanged && after?.status === 'True')
    emit({ kind: 'applied', ...identity, objects: status.resourceStatus?.manifests?.length ?? 0 });
  if (isChanged && after?.status === 'False')
    emit({ kind: 'failed', ...identity, problem: firstProblem(status) });
  if (!isChanged)
    for (const { task, outcome } of results ?? [])
      if (outcome.kind === 'applied' && outcome.wrote)
        emit({ kind: 'corrected', ...identity, object: `${task.meta.kind} ${task.meta.name}` });
  const values = feedbackOf(status);
  if (!jsonEqual(values, feedbackOf(work.status ?? {}))) emit({ kind: 'feedback', ...identity, values });
}

function firstProblem(status: ManifestWorkStatus): string {
  for (const manifest of status.resourceStatus?.manifests ?? []) {
    const applied = findCondition(manifest.conditions, 'Applied');
    if (applied?.status === 'False') return applied.message;
  }
  return '';
}

function feedbackOf(status: ManifestWorkStatus): FeedbackByObject {
  const byObject: Record<string, Readonly<Record<string, string>>> = {};
  for (const { resourceMeta, statusFeedback } of status.resourceStatus?.manifests ?? []) {
    const values = statusFeedback?.values ?? [];
    if (values.length === 0) continue;
    const where = (resourceMeta.namespace ?? '') === '' ? '' : `${resourceMeta.namespace}/`;
    byObject[`${resourceMeta.kind} ${where}${resourceMeta.name}`] = Object.fromEntries(
      values.map(({ name, fieldValue: value }) => [
        name,
        String(value.integer ?? value.string ?? value.boolean ?? value.jsonRaw ?? ''),
      ]),
    );
  }
  return byObject;
}
