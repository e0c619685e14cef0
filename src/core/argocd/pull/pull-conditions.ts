import type { ApplicationCondition } from '../argo-application.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { formatNameList } from '@berth/runtime/text/name-list';
import { findCondition } from '@berth/kube/model/condition-list';
import type { FEEDBACK_CONDITIONS, PullFeedback } from './read-pull-feedback.ts';

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
export interface PullConditionFacts {
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
export function mergePullConditions(
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
