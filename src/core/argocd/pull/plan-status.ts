import { findCondition } from '@berth/kube/model/condition-list';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { formatNameList } from '@berth/runtime/text/name-list';
import type {
  Application,
  ApplicationCondition,
  ApplicationOperationState,
  ApplicationStatus,
} from '../argocd-kinds.ts';
import { REFRESH_ANNOTATION, REFRESH_TIME_ANNOTATION } from './pull-target.ts';
import type { FEEDBACK_CONDITIONS, PullFeedback } from './read-pull-feedback.ts';
import { isRefreshed, operationStage } from './refresh-request.ts';

/** A merge patch of a hub's Application. */
export interface ApplicationPatch {
  /** null: the managed cluster has finished the operation, so it is removed. */
  readonly operation?: null;
  /** null: Argo CD of the managed cluster has done the refresh. */
  readonly metadata?: { readonly annotations: Readonly<Record<string, null>> };
  readonly status?: object;
}

/**
 * The patch of the hub's Application after a report of the managed cluster; undefined if it is up to date. There is one
 * write for each change and no artificial step in between, because RollingSync of the ApplicationSet controller reads
 * the changes of the sync status and the operation.
 */
export function planApplicationStatus(
  application: Application,
  work: ManifestWork | undefined,
  feedback: PullFeedback,
  conditions: readonly ApplicationCondition[],
): ApplicationPatch | undefined {
  const current = application.status ?? {};
  const stage = operationStage(application, work);
  const reported = reportedStatus(feedback);
  const merged = mergePullConditions(current.conditions ?? [], conditions);
  const changed: Record<string, unknown> = {};
  // The end is recorded when the operation leaves, in one write: it tells the next operation from this one.
  for (const [field, value] of Object.entries(reported))
    if (
      !(field === 'operationState' && stage === 'finishing') &&
      !contains(current[field as keyof ApplicationStatus], value)
    )
      changed[field] = value;
  if (!jsonEqual(current.conditions ?? [], merged)) changed['conditions'] = merged;
  const ends = stage === 'ended';
  const isDone = isRefreshed(application, work, feedback.reconciledAt);
  if (!ends && !isDone && Object.keys(changed).length === 0) return undefined;
  return {
    ...(ends && { operation: null }),
    ...(isDone && {
      metadata: { annotations: { [REFRESH_ANNOTATION]: null, [REFRESH_TIME_ANNOTATION]: null } },
    }),
    ...(Object.keys(changed).length > 0 && { status: changed }),
  };
}

/**
 * The reported parts of the status. Without health and sync status nothing is known. An operation without a reported
 * start is omitted, because Argo CD requires the time.
 */
function reportedStatus({
  health,
  sync,
  revision,
  phase,
  startedAt,
  message,
  reconciledAt,
}: PullFeedback): ApplicationStatus {
  if (health === undefined || sync === undefined) return {};
  const operationState: ApplicationOperationState | undefined =
    startedAt === undefined
      ? undefined
      : { operation: {}, phase: phase ?? '', startedAt, ...(message !== undefined && { message }) };
  return {
    health: { status: health },
    sync: { status: sync, revision: revision ?? '' },
    ...(operationState !== undefined && { operationState }),
    ...(reconciledAt !== undefined && { reconciledAt }),
  };
}

/** Whether a merge patch with the part would change nothing. */
function contains(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return jsonEqual(whole, part);
  if (typeof whole !== 'object' || whole === null) return false;
  return Object.entries(part).every(([key, value]) =>
    contains((whole as Readonly<Record<string, unknown>>)[key], value),
  );
}

/**
 * Condition types that Berth writes to a hub's Application. Argo CD shows types that end with `Error` in red, and those
 * with `Warning` in yellow.
 */
const APPLY_ERROR = 'MemberApplyError';
const FEEDBACK_WARNING = 'MemberFeedbackWarning';
const UNREACHABLE_WARNING = 'MemberUnreachableWarning';
const LEAVING_WARNING = 'MemberLeavingWarning';
const UNKNOWN_ERROR = 'MemberUnknownError';
const COPY_WARNING = 'UnconfirmedRemovalWarning';
const WAITING_WARNING = 'CopiesExceededWarning';
const HELD_WARNING = 'RemovalHeldWarning';
const RESOURCES = 'MemberResources';
/** Conditions of the Application on the managed cluster, and their types on the hub. */
const FROM_MEMBER: Readonly<Record<(typeof FEEDBACK_CONDITIONS)[number], string>> = {
  ComparisonError: 'MemberComparisonError',
  InvalidSpecError: 'MemberInvalidSpecError',
  SyncError: 'MemberSyncError',
};
const OWN = new Set([
  APPLY_ERROR,
  FEEDBACK_WARNING,
  UNREACHABLE_WARNING,
  LEAVING_WARNING,
  UNKNOWN_ERROR,
  COPY_WARNING,
  WAITING_WARNING,
  HELD_WARNING,
  RESOURCES,
  ...Object.values(FROM_MEMBER),
]);

/** The input for the conditions of a hub's Application. */
interface PullConditionFacts {
  readonly cluster: string;
  /** Undefined if the hub has no such ManagedCluster. */
  readonly managedCluster: ManagedCluster | undefined;
  readonly work: ManifestWork | undefined;
  readonly feedback: PullFeedback;
  /** Clusters that must remove their copy of the ApplicationSet's workload and do not answer. */
  readonly unconfirmed: readonly string[];
  /** Why the work is not written yet: there are more copies than the Application allows. */
  readonly waitsFor?: readonly string[] | undefined;
  /** Why works of the Application are not removed. */
  readonly held?: string | undefined;
}

/**
 * The conditions about the connection to the managed cluster. Their times come from the objects they describe, never
 * from the current time.
 */
export function pullConditions(facts: PullConditionFacts): readonly ApplicationCondition[] {
  const { cluster, managedCluster, work, feedback } = facts;
  if (managedCluster === undefined)
    return [
      {
        type: UNKNOWN_ERROR,
        message: `The hub has no ManagedCluster ${cluster}: the Application is brought to no cluster`,
      },
      ...heldConditions(facts),
    ];
  const applied = findCondition(work?.status?.conditions, 'Applied');
  const [manifest] = work?.status?.resourceStatus?.manifests ?? [];
  const problem = findCondition(manifest?.conditions, 'Applied');
  const synced = findCondition(manifest?.conditions, 'StatusFeedbackSynced');
  const available = findCondition(managedCluster.status?.conditions, 'ManagedClusterConditionAvailable');
  return [
    ...(applied?.status === 'False'
      ? [
          dated(
            APPLY_ERROR,
            `Cluster ${cluster}: ${problem?.status === 'False' ? problem.message : applied.message}`,
            applied.lastTransitionTime,
          ),
        ]
      : []),
    ...(synced?.status === 'False'
      ? [dated(FEEDBACK_WARNING, `Cluster ${cluster}: ${synced.message ?? ''}`, synced.lastTransitionTime)]
      : []),
    ...(available !== undefined && available.status !== 'True'
      ? [
          dated(
            UNREACHABLE_WARNING,
            `Cluster ${cluster} does not answer the hub: the status is the last that it reported`,
            available.lastTransitionTime,
          ),
        ]
      : []),
    ...(managedCluster.metadata.deletionTimestamp === undefined
      ? []
      : [
          dated(
            LEAVING_WARNING,
            `Cluster ${cluster} is being deleted: its work is neither made nor changed`,
            managedCluster.metadata.deletionTimestamp,
          ),
        ]),
    ...heldConditions(facts),
    ...feedback.conditions.map(({ type, message }) => ({ type: FROM_MEMBER[type], message })),
    ...resourceCondition(feedback),
  ];
}

function heldConditions({
  unconfirmed,
  waitsFor,
  held,
}: PullConditionFacts): readonly ApplicationCondition[] {
  return [
    ...(unconfirmed.length > 0
      ? [
          {
            type: COPY_WARNING,
            message: `Another copy may still run: the hub told ${formatNameList(unconfirmed)} to remove it, and got no answer since`,
          },
        ]
      : []),
    ...(waitsFor !== undefined
      ? [
          {
            type: WAITING_WARNING,
            message: `Not brought to the cluster yet: ${formatNameList(waitsFor)} must remove its copy first, and confirm it`,
          },
        ]
      : []),
    ...(held !== undefined ? [{ type: HELD_WARNING, message: held }] : []),
  ];
}

/** The new conditions of the Application. Those of others stay. */
function mergePullConditions(
  existing: readonly ApplicationCondition[],
  own: readonly ApplicationCondition[],
): readonly ApplicationCondition[] {
  return [...existing.filter(({ type }) => !OWN.has(type)), ...own];
}

function dated(
  type: string,
  message: string | undefined,
  lastTransitionTime: string | null | undefined,
): ApplicationCondition {
  return { type, message: message ?? '', ...(lastTransitionTime && { lastTransitionTime }) };
}

function resourceCondition(feedback: PullFeedback): readonly ApplicationCondition[] {
  const { resourceSyncs, resourceHealths } = feedback;
  if (resourceSyncs === undefined) return [];
  const healths = resourceHealths === undefined ? '' : `; ${tally(resourceHealths)}`;
  return [
    { type: RESOURCES, message: `${resourceSyncs.length} resources: ${tally(resourceSyncs)}${healths}` },
  ];
}

/** `3 Synced, 1 OutOfSync`, the most frequent first. */
function tally(values: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([value, count]) => `${count} ${value}`)
    .join(', ');
}
