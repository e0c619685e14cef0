import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { managerApplies } from './field-names.ts';

/**
 * On a ManagedCluster: its taints from Git, as a sorted, comma-separated list of `key:effect`. The
 * list of taints is atomic, so managedFields do not tell who owns each taint.
 */
export const APPLIED_TAINTS_ANNOTATION = 'berth.dev/applied-taints';

/** The field, as conflicts name it. */
export const TAINTS_FIELD = '.spec.taints';

/** Taints from Git have no time: the hub sets it, and OCM's webhook refuses any other. */
export function withoutTimes(taints: readonly Taint[]): readonly Taint[] {
  return taints.map(({ timeAdded: _timeAdded, ...taint }) => taint);
}

/** The text of `APPLIED_TAINTS_ANNOTATION`. */
export function taintNames(taints: readonly Taint[]): string {
  return taints.map(nameOf).sort().join(',');
}

/** Whether an apply may have to include taints, for which the live object is needed. */
export function hasTaints(desired: KubeObject): boolean {
  return desired.kind === 'ManagedCluster' && taintsOf(desired) !== undefined;
}

/**
 * The cluster to apply, with the complete list of taints: those of Git, and those that others
 * added. A taint that is unchanged on the hub is sent with its time, because OCM's webhook rejects
 * it without. If Git never declared taints, none are sent. Source: open-cluster-management.io/ocm
 * `pkg/registration/webhook/v1/managedcluster_mutating.go`, processTaints.
 * @param live undefined: the object is not on the hub
 */
export function withHubTaints(
  desired: KubeObject,
  live: KubeObject | undefined,
  manager: string,
): KubeObject {
  if (desired.kind !== 'ManagedCluster' || live === undefined) return desired;
  const wanted = new Map((taintsOf(desired) ?? []).map((taint) => [nameOf(taint), taint]));
  const present = taintsOf(live) ?? [];
  const ownsList = managerApplies(live, manager)?.['f:spec']?.['f:taints'] !== undefined;
  const noted = live.metadata.annotations?.[APPLIED_TAINTS_ANNOTATION];
  // Without the annotation (earlier versions), all taints are from Git.
  const before = new Set(noted?.split(',') ?? (ownsList ? present.map(nameOf) : []));
  if (wanted.size === 0 && !ownsList && before.size === 0) return desired;
  const there = present.flatMap((taint) => {
    const own = wanted.get(nameOf(taint));
    if (own !== undefined) return [isSame(own, taint) ? taint : own];
    return before.has(nameOf(taint)) ? [] : [taint];
  });
  const known = new Set(present.map(nameOf));
  const added = [...wanted.values()].filter((taint) => !known.has(nameOf(taint)));
  const { annotations } = desired.metadata;
  const note = { [APPLIED_TAINTS_ANNOTATION]: taintNames([...wanted.values()]) };
  return {
    ...desired,
    metadata: { ...desired.metadata, annotations: { ...annotations, ...note } },
    spec: { ...(desired['spec'] as object | undefined), taints: [...there, ...added] },
  };
}

/**
 * The cluster to apply without its taints. The annotation of Git's taints stays as on the hub,
 * because it describes the list that stays there. With a newer annotation, a taint that was removed
 * from Git would count as one of others.
 */
export function withHubTaintNote(desired: KubeObject, live: KubeObject, manager: string): KubeObject {
  const ownsList = managerApplies(live, manager)?.['f:spec']?.['f:taints'] !== undefined;
  const note = { [APPLIED_TAINTS_ANNOTATION]: taintNames(gitTaints(live, ownsList)) };
  const annotations = { ...desired.metadata.annotations, ...note };
  return { ...desired, metadata: { ...desired.metadata, annotations } };
}

/** The taints of a live cluster that came from Git. */
export function gitTaints(live: KubeObject, ownsList: boolean): readonly Taint[] {
  const noted = live.metadata.annotations?.[APPLIED_TAINTS_ANNOTATION]?.split(',');
  const present = taintsOf(live) ?? [];
  if (noted === undefined) return ownsList ? present : [];
  return present.filter((taint) => noted.includes(nameOf(taint)));
}

function taintsOf(object: KubeObject): readonly Taint[] | undefined {
  return (object as unknown as ManagedCluster).spec?.taints;
}

function nameOf({ key, effect }: Taint): string {
  return `${key}:${effect}`;
}

function isSame(a: Taint, b: Taint): boolean {
  return (a.value ?? '') === (b.value ?? '');
}
