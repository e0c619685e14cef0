import type { ObjectCache } from '@berth/kube/cache/object-cache';
import { placementOfWork } from '../../controllers/inventory/works-by-placement.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { MANAGED_CLUSTER, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { RegistrationEvent } from '../../core/registration/registration-event.ts';
import { clusterSteps, leaseExpired } from '../../core/timeline/cluster-steps.ts';
import { workSteps } from '../../core/timeline/work-steps.ts';
import type { ServeOptions } from '../settings/serve-options.ts';
import type { ControllerState } from './controller-state.ts';

/**
 * Records changes of clusters and of works of placements, for `berth history --timeline`. The
 * initial state is not recorded.
 * @returns a listener for registration events
 */
export function recordTimeline({
  options: { clock },
  cache,
  state: { timeline },
}: {
  readonly options: Pick<ServeOptions, 'clock'>;
  readonly cache: ObjectCache;
  readonly state: Pick<ControllerState, 'timeline'>;
}): (event: RegistrationEvent) => void {
  const [clusters, works] = [cache.of(MANAGED_CLUSTER), cache.of(MANIFEST_WORK)];
  const now = (): string => new Date(clock.now()).toISOString();
  clusters.store.onChange(({ before, after }) => {
    if (before === undefined || after === undefined) return;
    const pair = [before, after] as unknown as [ManagedCluster, ManagedCluster];
    for (const step of clusterSteps(...pair, now())) timeline.append(step);
  });
  works.store.onChange(({ before, after }) => {
    const placement = placementOfWork((after ?? before)?.metadata ?? {});
    if (placement === undefined || !works.synced) return;
    const change = { before, after } as unknown as Parameters<typeof workSteps>[0];
    for (const step of workSteps(change, { placement, at: now() })) timeline.append(step);
  });
  return (event) => {
    if (event.action !== 'unreachable') return;
    const found = clusters.store.get(event.cluster) as ManagedCluster | undefined;
    if (found !== undefined) timeline.append(leaseExpired(found, new Date(event.gaveUpAtMs).toISOString()));
  };
}
