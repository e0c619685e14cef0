import { apiVersionOf, MANIFEST_WORK } from '@berth/kube/model/kinds';
import {
  type ManifestWorkReplicaSet,
  REPLICA_SET_LABEL,
  WORK_PLACEMENT_LABEL,
} from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import { childWorkName, ownerLabelValue } from './replica-set-names.ts';
import { sameWorkSpec } from '../manifests/same-work-spec.ts';
import { ROLLED_OUT_AT_ANNOTATION } from './work-rollout-status.ts';

/** Number of a work among those that carry one cluster's manifests; absent: 0. */
export const PART_LABEL = 'berth.dev/part';

/** The works of one placement on one cluster. */
export interface ClusterWorks {
  readonly cluster: string;
  readonly placement: string;
  /** Existing works, by part. */
  readonly works: ReadonlyMap<number, ManifestWork>;
}

export function partOf(work: ManifestWork): number {
  const part = Number(work.metadata.labels?.[PART_LABEL] ?? '0');
  return Number.isInteger(part) && part >= 0 ? part : 0;
}

/** Whether there is exactly one existing work with the wanted content for each part. */
export function matchesSpecs({ works }: ClusterWorks, specs: readonly ManifestWorkSpec[]): boolean {
  return (
    works.size === specs.length && specs.every((spec, part) => sameWorkSpec(works.get(part)?.spec, spec))
  );
}

/**
 * Labels with which a tool finds its own objects for pruning. On a work they would make that tool
 * delete the work.
 */
function isTrackingLabel(key: string): boolean {
  return (
    key === 'app.kubernetes.io/instance' ||
    /^(applyset\.kubernetes\.io|argocd\.argoproj\.io|[a-z]+\.toolkit\.fluxcd\.io)\//.test(key)
  );
}

/**
 * The labels of a work: those of the replica set without tracking labels, and those that name its replica set and
 * placement.
 */
export function childLabels(
  replicaSet: ManifestWorkReplicaSet,
  placement: string,
  part: number,
): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(
      Object.entries(replicaSet.metadata.labels ?? {}).filter(([key]) => !isTrackingLabel(key)),
    ),
    [REPLICA_SET_LABEL]: ownerLabelValue(replicaSet.metadata),
    [WORK_PLACEMENT_LABEL]: placement,
    ...(part === 0 ? {} : { [PART_LABEL]: String(part) }),
  };
}

/** @param now RFC 3339 */
export function renderChildWork(
  replicaSet: ManifestWorkReplicaSet,
  at: { readonly cluster: string; readonly placement: string; readonly part: number },
  spec: ManifestWorkSpec,
  now: string,
): ManifestWork {
  return {
    apiVersion: apiVersionOf(MANIFEST_WORK),
    kind: 'ManifestWork',
    metadata: {
      name: childWorkName(replicaSet.metadata, at.placement, at.part),
      namespace: at.cluster,
      labels: childLabels(replicaSet, at.placement, at.part),
      annotations: { [ROLLED_OUT_AT_ANNOTATION]: now },
    },
    spec,
  };
}

export function groupChildren(children: readonly ManifestWork[]): readonly ClusterWorks[] {
  const groups = new Map<string, { cluster: string; placement: string; works: Map<number, ManifestWork> }>();
  for (const work of children) {
    const cluster = work.metadata.namespace ?? '';
    const placement = work.metadata.labels?.[WORK_PLACEMENT_LABEL] ?? '';
    const key = `${placement}/${cluster}`;
    const group = groups.get(key) ?? { cluster, placement, works: new Map<number, ManifestWork>() };
    const part = partOf(work);
    const known = group.works.get(part);
    // Two works for one part (made by an older controller): the older one stays, duplicates are found as surplus.
    if (known === undefined || isOlder(work, known)) group.works.set(part, work);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function isOlder(a: ManifestWork, b: ManifestWork): boolean {
  const [left, right] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return left === right ? a.metadata.name < b.metadata.name : left < right;
}
