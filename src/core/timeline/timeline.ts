import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatRfc3339, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import { findCluster } from '@berth/placement/explain/snapshot/snapshot-lookup';
import { judgeTaint } from '@berth/placement/filter/toleration-class';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { CompactRecord, NameSummary } from '../publish/record/compact-record.ts';
import type { DecisionRecord } from '../publish/record/decision-record.ts';
import { graceSeconds } from '../registration/health/judge-lease.ts';
import { hasAppliedCurrent } from '../work/replica-set/replica-set-child.ts';

/** One step of the timeline of a cluster or a placement, as stored and shown. Plain JSON. */
export interface TimelineStep {
  /** When Berth saw it, RFC 3339 with milliseconds. Of `toleration-ended`: when it ended. */
  readonly at: string;
  readonly step: StepName;
  /** Absent where a placement gained or lost several. */
  readonly cluster?: string | undefined;
  /** `namespace/name`; absent for what happens to a cluster itself. */
  readonly placement?: string | undefined;
  readonly detail: string;
  /** Of `decision-moved`. */
  readonly added?: NameSummary | undefined;
  readonly removed?: NameSummary | undefined;
}

export type StepName =
  | 'lease-expired'
  | 'available'
  | 'unavailable'
  | 'unknown'
  | 'taint-added'
  | 'taint-removed'
  | 'toleration-ended'
  | 'decision-moved'
  | 'work-created'
  | 'work-applied'
  | 'work-withdrawn'
  | 'work-removed'
  | 'rule-overridden';

/** Steps sorted by time; steps of the same time keep their order. */
export function inOrder(steps: readonly TimelineStep[]): readonly TimelineStep[] {
  return [...steps].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** The steps of one placement, and of the clusters that it selected or deselected. */
export function stepsOf(
  placement: string,
  steps: readonly TimelineStep[],
  clusters: ReadonlySet<string>,
): readonly TimelineStep[] {
  return steps.filter((step) =>
    step.placement === undefined ? clusters.has(step.cluster ?? '') : step.placement === placement,
  );
}

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
    ...(hasAppliedCurrent(after) && !(before && hasAppliedCurrent(before)) ? [step('work-applied')] : []),
    ...(isLeaving && before?.metadata.deletionTimestamp === undefined
      ? [step('work-withdrawn', '; its copy stays until the agent has removed it')]
      : []),
  ];
}

/** The timeline step of a publication. */
export function movedStep({
  publishedAt: at,
  placement,
  added,
  removed,
  clusters,
}: Pick<CompactRecord, 'publishedAt' | 'placement' | 'added' | 'removed' | 'clusters'>): TimelineStep {
  const parts = [list('added', added), list('removed', removed)].filter((part) => part !== '');
  const [only] = [...added.names, ...removed.names];
  const cluster = added.count + removed.count === 1 ? only : undefined;
  const detail = parts.length === 0 ? unchanged(clusters) : parts.join(', ');
  return { at, step: 'decision-moved', cluster, placement, detail, added, removed };
}

/** @param clusters number of published clusters */
function unchanged(clusters: number): string {
  if (clusters === 0) return 'no clusters';
  return clusters === 1 ? 'the same cluster' : `the same ${clusters} clusters`;
}

/**
 * Which tolerations ended before the placement lost the clusters.
 * @param snapshot the inputs of the record
 */
export function tolerationSteps(
  { placement: name, removed }: Pick<DecisionRecord, 'placement' | 'removed'>,
  snapshot: Snapshot,
): readonly TimelineStep[] {
  const placement = snapshot.placements.find(({ metadata }) => namespacedName(metadata) === name);
  const now = parseRfc3339(snapshot.now);
  if (placement === undefined || now === undefined) return [];
  const tolerations = placement.spec?.tolerations ?? [];
  return removed.flatMap((cluster) =>
    (findCluster(snapshot, cluster)?.spec?.taints ?? []).flatMap((taint) => {
      const verdict = judgeTaint(taint, tolerations, { now, decided: true });
      if (verdict.verdict !== 'expired') return [];
      const seconds = verdict.toleration.tolerationSeconds ?? 0;
      const detail = `${taint.key}, tolerated for ${seconds} s`;
      return [
        {
          at: formatRfc3339(verdict.until),
          step: 'toleration-ended' as const,
          cluster,
          placement: name,
          detail,
        },
      ];
    }),
  );
}

const MAX_NAMES = 10;

function list(what: string, { count, names }: NameSummary): string {
  if (count === 0) return '';
  const more = count > MAX_NAMES ? ` and ${count - MAX_NAMES} more` : '';
  return `${what} ${names.slice(0, MAX_NAMES).join(' ')}${more}`;
}
