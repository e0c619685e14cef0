import { jsonEqual } from '@berth/runtime/json/json-equal';
import type {
  Application,
  ApplicationCondition,
  ApplicationOperationState,
  ApplicationStatus,
} from '../argo-application.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { mergePullConditions } from './pull-conditions.ts';
import { operationStage } from './operation-stage.ts';
import { REFRESH_ANNOTATION, REFRESH_TIME_ANNOTATION } from './pull-keys.ts';
import type { PullFeedback } from './read-pull-feedback.ts';
import { isRefreshed } from './refresh-request.ts';

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
