import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition, ObjectMeta } from '@berth/kube/model/object-meta';
import { labelKeyProblem } from '@berth/kube/model/selector/label-syntax';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';

const ADDON_AVAILABLE = 'Available';
const FEATURE_GROUP = 'feature.open-cluster-management.io';
const FEATURE_PREFIX = `${FEATURE_GROUP}/addon-`;

/**
 * The health of all add-ons of a cluster whose agent does not report: unknown, for the reason of the cluster. Undefined:
 * the agent reports, and says how its add-ons are.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/addon/healthcheck_controller.go`.
 */
export function unknownHealth({ status }: ManagedCluster): Condition | undefined {
  const of = findCondition(status?.conditions, AVAILABLE);
  if (of?.status !== 'Unknown') return undefined;
  return { type: ADDON_AVAILABLE, status: 'Unknown', reason: of.reason, message: of.message };
}

export interface LabelledAddOn {
  readonly metadata: ObjectMeta;
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/**
 * The changes of the labels by which placements find clusters with an add-on; null removes one. Undefined: no change. An
 * add-on whose name is too long for a label has none.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/addon/discovery_controller.go`.
 */
export function planFeatureLabels(
  { metadata, status }: ManagedCluster,
  addons: readonly LabelledAddOn[],
): Readonly<Record<string, string | null>> | undefined {
  // A cluster that has not joined yet has no labels.
  if (metadata.deletionTimestamp !== undefined || findCondition(status?.conditions, AVAILABLE) === undefined)
    return undefined;
  const wanted = new Map<string, string>(
    addons
      .filter((addon) => addon.metadata.deletionTimestamp === undefined)
      .map((addon) => [`${FEATURE_PREFIX}${addon.metadata.name}`, featureOf(addon)] as const)
      .filter(([label]) => labelKeyProblem(label) === undefined),
  );
  const labels = metadata.labels ?? {};
  const stale = Object.keys(labels).filter((key) => key.startsWith(FEATURE_PREFIX) && !wanted.has(key));
  const changes = [
    ...[...wanted].filter(([key, value]) => labels[key] !== value),
    ...stale.map((key) => [key, null] as const),
  ];
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

function featureOf({ status }: LabelledAddOn): string {
  switch (findCondition(status?.conditions, ADDON_AVAILABLE)?.status) {
    case 'True':
      return 'available';
    case 'False':
      return 'unhealthy';
    default:
      return 'unreachable';
  }
}
