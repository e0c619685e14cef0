import type { KindInfo } from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { CLUSTER_CONDITIONS, resourceRemains } from '@berth/ocm/registration/cluster-conditions';
import { CLEANUP_PRIORITY_ANNOTATION } from '@berth/ocm/registration/names';

/** Objects of one kind in the namespace of a cluster that is being deleted. */
export interface LeftOver {
  readonly kind: KindInfo;
  readonly objects: readonly KubeObject[];
}

export interface CleanupPlan {
  /** Objects to delete now. */
  readonly kind: KindInfo | undefined;
  readonly deletions: readonly KubeObject[];
  readonly condition: Condition;
  readonly isFinished: boolean;
}

const HIGHEST_PRIORITY = 100;

/**
 * Deletes the objects of a cluster kind by kind, and within a kind by priority: only the objects with the lowest number
 * are deleted, and the others wait until these are gone.
 * Source: open-cluster-management.io/ocm `pkg/registration/hub/gc`.
 *
 * @param leftOvers in the order of deletion
 */
export function planCleanup(leftOvers: readonly LeftOver[]): CleanupPlan {
  const next = leftOvers.find(({ objects }) => objects.length > 0);
  if (next === undefined)
    return {
      kind: undefined,
      deletions: [],
      condition: CLUSTER_CONDITIONS.nothingRemains,
      isFinished: true,
    };
  const { kind, objects } = next;
  const lowest = Math.min(...objects.map(cleanupPriority));
  const withFinalizers = objects.filter(({ metadata }) => (metadata.finalizers ?? []).length > 0).length;
  return {
    kind,
    deletions: objects.filter(
      (object) => cleanupPriority(object) === lowest && object.metadata.deletionTimestamp === undefined,
    ),
    condition: resourceRemains(kind.plural, objects.length, withFinalizers),
    isFinished: false,
  };
}

/** 0 to 100. Any other value counts as 0, so that a misspelt number delays nothing. */
export function cleanupPriority({ metadata }: KubeObject): number {
  const text = metadata.annotations?.[CLEANUP_PRIORITY_ANNOTATION] ?? '';
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
  return number >= 0 && number <= HIGHEST_PRIORITY ? number : 0;
}
