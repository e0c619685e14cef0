import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { epochMsOf, parseRfc3339 } from '@berth/kube/model/rfc3339';
import { type ClusterAddon, hostingCluster } from './addon-registrations.ts';

/** An add-on's agent renews its lease every minute. After five missed renewals it counts as stopped. */
const GRACE_MS = 5 * 60_000;

/** Whether the health of the add-on is its lease. With the mode `Customized` the add-on's manager judges it. */
export function isJudgedByLease(addon: ClusterAddon): boolean {
  return addon.status?.healthCheck?.mode !== 'Customized';
}

export interface LeaseVerdict {
  readonly condition: Condition;
  /** When a fresh lease counts as stopped unless it is renewed. */
  readonly staleAtMs?: number | undefined;
}

/**
 * The condition Available by the lease of an add-on's agent.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/addon/lease_controller.go`; the second sentence about
 * a missing lease of a hosted add-on is newer than its release 1.3.
 * @param lease undefined if there is none
 */
export function judgeLease(addon: ClusterAddon, lease: KubeObject | undefined, nowMs: number): LeaseVerdict {
  const { name } = addon.metadata;
  if (lease === undefined) {
    const hosting = hostingCluster(addon);
    const hint =
      hosting === undefined
        ? ''
        : ` No lease found on hosting cluster "${hosting}"; verify it matches the cluster where this managed cluster's klusterlet actually runs.`;
    const message = `The status of ${name} add-on is unknown.${hint}`;
    return { condition: available('Unknown', 'ManagedClusterAddOnLeaseNotFound', message) };
  }
  const { renewTime } = (lease['spec'] ?? {}) as { readonly renewTime?: string | null };
  const renewed = parseRfc3339(renewTime ?? '');
  const staleAtMs = renewed === undefined ? nowMs : epochMsOf(renewed) + GRACE_MS;
  return nowMs < staleAtMs
    ? {
        condition: available('True', 'ManagedClusterAddOnLeaseUpdated', `${name} add-on is available.`),
        staleAtMs,
      }
    : {
        condition: available(
          'False',
          'ManagedClusterAddOnLeaseUpdateStopped',
          `${name} add-on is not available.`,
        ),
      };
}

function available(status: Condition['status'], reason: string, message: string): Condition {
  return { type: 'Available', status, reason, message };
}
