import { findCondition } from '@berth/kube/model/condition-list';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Application } from '../argocd-kinds.ts';
import { REFRESH_ANNOTATION, REFRESH_TIME_ANNOTATION } from './pull-target.ts';
import { readPullFeedback } from './read-pull-feedback.ts';

/**
 * A refresh is a request that Argo CD compares an Application with Git now. No Argo CD on the hub does it for an
 * Application that a cluster pulls, so the work carries the annotations to the cluster, and Berth removes them on the
 * hub when the cluster has compared. Since Argo CD 3.6 a RollingSync waits for that: its controller requests a refresh,
 * and goes on when `status.reconciledAt` is not before the change (`applicationset/progressivesync`,
 * ensureApplicationsReconciled).
 */
interface Refresh {
  /** `normal` or `hard` */
  readonly type: string | undefined;
  /** RFC 3339 */
  readonly requestedAt: string | undefined;
}

type Carrier = Pick<ManifestWork, 'metadata' | 'spec' | 'status'>;

/**
 * The Application with a time for its refresh. A request of a user, or of Argo CD before 3.6, has none: the time of the
 * first pass becomes its time, and the work keeps it. It tells two requests apart, because the agent does not apply a
 * manifest that is equal to the last one.
 * @param works that carry the Application
 */
export function withRefreshTime(
  application: Application,
  works: readonly Carrier[],
  nowMs: number,
): Application {
  const { metadata } = application;
  const { type, requestedAt } = refreshOf(application);
  if (type === undefined || !Number.isNaN(secondOf(requestedAt))) return application;
  const carried = works.map(carriedRefresh).find((one) => one.type === type)?.requestedAt;
  const time = carried ?? new Date(nowMs).toISOString();
  const annotations = { ...metadata.annotations, [REFRESH_TIME_ANNOTATION]: time };
  return { ...application, metadata: { ...metadata, annotations } };
}

/** Whether a refresh of the Application is requested and not done yet. */
export function isRefreshRequested({ metadata }: Pick<Application, 'metadata'>): boolean {
  return metadata.annotations?.[REFRESH_ANNOTATION] !== undefined;
}

/**
 * Whether the cluster has done the refresh: the agent has applied the request, and Argo CD has compared the Application
 * since. Argo CD reports whole seconds.
 * @param application with the time of its refresh
 * @param reconciledAt as the cluster reports it, RFC 3339
 */
export function isRefreshed(
  application: Application,
  work: Carrier | undefined,
  reconciledAt: string | undefined,
): boolean {
  if (work === undefined || !isRefreshRequested(application)) return false;
  const { type, requestedAt } = refreshOf(application);
  const carried = carriedRefresh(work);
  const isCarried = carried.type === type && carried.requestedAt === requestedAt;
  return isCarried && isObserved(work) && secondOf(reconciledAt) >= secondOf(requestedAt);
}

function carriedRefresh({ spec }: Carrier): Refresh {
  const [manifest] = spec?.workload?.manifests ?? [];
  return manifest === undefined ? { type: undefined, requestedAt: undefined } : refreshOf(manifest);
}

function refreshOf({ metadata }: Pick<Application, 'metadata'>): Refresh {
  const { [REFRESH_ANNOTATION]: type, [REFRESH_TIME_ANNOTATION]: requestedAt } = metadata.annotations ?? {};
  return { type, requestedAt };
}

/** NaN if it is no time. */
function secondOf(time = ''): number {
  return Math.floor(Date.parse(time) / 1_000);
}

/**
 * The stage of the operation of a hub's Application.
 * - `none`: there is none.
 * - `carried`: the work contains it, or must contain it.
 * - `finishing`: the cluster reports an end that the hub has not recorded, and has not compared the Application since. Argo CD
 * does that after each operation, and a RollingSync goes on only when it has (since Argo CD 3.3).
 * - `ended`: the same, and it has compared, or does not say when.
 * - `waits`: the agent has not seen the work without the previous operation yet. It would take an equal operation for
 * the previous one and not apply it; a RollingSync requests equal operations again and again.
 */
type OperationStage = 'none' | 'carried' | 'finishing' | 'ended' | 'waits';

const FINISHED = new Set(['Succeeded', 'Failed', 'Error']);

/** @param work the work that carries the Application, as the hub has it */
export function operationStage(
  { operation, status }: Application,
  work: Pick<ManifestWork, 'metadata' | 'spec' | 'status'> | undefined,
): OperationStage {
  if (operation === undefined) return 'none';
  if (work === undefined) return 'carried';
  const [manifest] = work.spec?.workload?.manifests ?? [];
  const carried = manifest?.['operation'];
  if (carried === undefined) return isObserved(work) ? 'carried' : 'waits';
  const { phase = '', startedAt, reconciledAt } = readPullFeedback(work);
  if (!jsonEqual(carried, operation) || startedAt === undefined || !FINISHED.has(phase)) return 'carried';
  const seen = status?.operationState;
  if (seen?.startedAt === startedAt && FINISHED.has(seen.phase ?? '')) return 'carried';
  const isBefore = reconciledAt !== undefined && Date.parse(reconciledAt) < Date.parse(startedAt);
  return isBefore ? 'finishing' : 'ended';
}

/** Whether the agent has applied the current content of the work; true if the agent has never reported. */
function isObserved({ metadata, status }: Pick<ManifestWork, 'metadata' | 'status'>): boolean {
  const { observedGeneration } = findCondition(status?.conditions, 'Applied') ?? {};
  return observedGeneration === undefined || observedGeneration >= (metadata.generation ?? 0);
}
