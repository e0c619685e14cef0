import { findCondition } from '@berth/kube/model/condition-list';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { ClusterManagementAddOn } from '@berth/ocm/kind/addon';
import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { workRow } from '../work/describe-work.ts';
import { ageSince, type Listed } from './listed.ts';

/**
 * The columns of `clusteradm get works`, and two more: degraded, and the age.
 * Source: open-cluster-management.io/clusteradm `pkg/cmd/get/work`.
 */
export function listWorks(works: readonly ManifestWork[], nowMs: number): Listed {
  return {
    header: ['NAME', 'CLUSTER', 'NUMBER OF MANIFESTS', 'APPLIED', 'AVAILABLE', 'DEGRADED', 'AGE'],
    rows: works.map((work) => [...workRow(work), ageSince(work.metadata.creationTimestamp, nowMs)]),
  };
}

/**
 * A row for each ManifestWorkReplicaSet, and for each placement of an add-on: how far it is.
 * @param objects ManifestWorkReplicaSets and ClusterManagementAddOns, as the functions of `@berth/addon` read them
 */
export function listRollouts(objects: readonly KubeObject[]): Listed {
  return {
    header: ['ROLLOUT', 'CLUSTERS', 'AVAILABLE', 'STATE', 'MESSAGE'],
    rows: objects.flatMap((object) =>
      object.kind === 'ManifestWorkReplicaSet'
        ? [ofReplicaSet(object as unknown as ManifestWorkReplicaSet)]
        : ofAddOn(object as unknown as ClusterManagementAddOn),
    ),
  };
}

function ofReplicaSet({ metadata, status }: ManifestWorkReplicaSet): readonly string[] {
  const { total, desiredTotal = total, available } = status?.summary ?? {};
  const counts = total === undefined ? ['', ''] : [`${total}/${desiredTotal ?? total}`, `${available ?? 0}`];
  const verified = findCondition(status?.conditions, 'PlacementVerified');
  const rolledOut = findCondition(status?.conditions, 'PlacementRolledOut');
  return [
    `works ${namespacedName(metadata)}`,
    ...counts,
    ...stateOf(verified?.status === 'False' ? verified : rolledOut),
  ];
}

function ofAddOn({ metadata, status }: ClusterManagementAddOn): readonly (readonly string[])[] {
  return (status?.installProgressions ?? []).map(({ namespace, name, conditions }) => [
    `add-on ${metadata.name} by ${namespace}/${name}`,
    ...['', ''],
    ...stateOf(findCondition(conditions, 'Progressing')),
  ]);
}

function stateOf(condition: Condition | undefined): readonly [string, string] {
  return condition === undefined ? ['not begun', ''] : [condition.reason, condition.message];
}
