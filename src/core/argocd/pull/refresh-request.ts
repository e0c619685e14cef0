import type { Application } from '../argo-application.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { isObserved } from './operation-stage.ts';
import { REFRESH_ANNOTATION, REFRESH_TIME_ANNOTATION } from './pull-keys.ts';

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
