import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition } from '@berth/kube/model/object-meta';
import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import { graceSeconds } from '../registration/health/judge-lease.ts';
import type { StepName, TimelineStep } from './timeline-step.ts';

/**
 * The timeline steps of a change of a ManagedCluster.
 * @param at when the change was observed, RFC 3339
 */
export function clusterSteps(
  before: ManagedCluster,
  after: ManagedCluster,
  at: string,
): readonly TimelineStep[] {
  const cluster = after.metadata.name;
  const step = (name: StepName, detail: string): TimelineStep => ({ at, step: name, cluster, detail });
  const [was, is] = [before, after].map(({ status }) => findCondition(status?.conditions, AVAILABLE));
  const [had, has] = [before, after].map(({ spec }) => spec?.taints ?? []) as [
    readonly Taint[],
    readonly Taint[],
  ];
  return [
    ...(is === undefined || is.status === was?.status ? [] : [step(availability(is), is.reason)]),
    ...has.filter((taint) => !includes(had, taint)).map((taint) => step('taint-added', textOf(taint))),
    ...had.filter((taint) => !includes(has, taint)).map((taint) => step('taint-removed', textOf(taint))),
  ];
}

/**
 * The step of an expired lease, after the grace period.
 * @param at when it expired, RFC 3339
 */
export function leaseExpired(cluster: ManagedCluster, at: string): TimelineStep {
  return {
    at,
    step: 'lease-expired',
    cluster: cluster.metadata.name,
    detail: `not renewed for ${graceSeconds(cluster)} s`,
  };
}

function availability({ status }: Condition): StepName {
  switch (status) {
    case 'True':
      return 'available';
    case 'False':
      return 'unavailable';
    case 'Unknown':
      return 'unknown';
  }
}

function includes(taints: readonly Taint[], { key, value = '', effect }: Taint): boolean {
  return taints.some((one) => one.key === key && (one.value ?? '') === value && one.effect === effect);
}

function textOf({ key, value = '', effect }: Taint): string {
  return `${key}${value === '' ? '' : `=${value}`}:${effect}`;
}

/**
 * The timeline steps of a change of a work of a placement.
 * @param change `before` undefined: created; `after` undefined: deleted
 * @param given `placement`: `namespace/name`; `at`: when the change was observed, RFC 3339
 */
export function workSteps(
  { before, after }: { readonly before: ManifestWork | undefined; readonly after: ManifestWork | undefined },
  { placement, at }: { readonly placement: string; readonly at: string },
): readonly TimelineStep[] {
  const { name = '', namespace: cluster } = (after ?? before)?.metadata ?? {};
  const step = (named: StepName, more = ''): TimelineStep => ({
    ...{ at, step: named, cluster, placement },
    detail: `${name}${more}`,
  });
  if (after === undefined) return [step('work-removed')];
  const isLeaving = after.metadata.deletionTimestamp !== undefined;
  return [
    ...(before === undefined ? [step('work-created')] : []),
    ...(isApplied(after) && !isApplied(before) ? [step('work-applied')] : []),
    ...(isLeaving && before?.metadata.deletionTimestamp === undefined
      ? [step('work-withdrawn', '; its copy stays until the agent has removed it')]
      : []),
  ];
}

/** Whether the current generation is applied. */
function isApplied(work: ManifestWork | undefined): boolean {
  const applied = findCondition(work?.status?.conditions, 'Applied');
  return applied?.status === 'True' && applied.observedGeneration === work?.metadata.generation;
}
