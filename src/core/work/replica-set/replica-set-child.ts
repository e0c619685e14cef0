import { findCondition } from '@berth/kube/model/condition-list';
import { apiVersionOf, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { Condition, ObjectMeta } from '@berth/kube/model/object-meta';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import {
  type ManifestWorkReplicaSet,
  REPLICA_SET_LABEL,
  WORK_PLACEMENT_LABEL,
} from '@berth/ocm/kind/manifest-work-replica-set';
import { sameWorkSpec } from '@berth/ocm/kind/same-work-spec';
import { ROLLED_OUT_AT_ANNOTATION } from './work-rollout-status.ts';
import { labelValueProblem } from '@berth/kube/model/selector/label-syntax';

/** Number of a work among those that carry one cluster's manifests; absent: 0. */
const PART_LABEL = 'berth.dev/part';

/** The works of one placement on one cluster. */
export interface ClusterWorks {
  readonly cluster: string;
  readonly placement: string;
  /** Existing works, by part. */
  readonly works: ReadonlyMap<number, ManifestWork>;
}

function partOf(work: ManifestWork): number {
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

/** Whether the cluster has applied the current content of the work. */
export function hasAppliedCurrent({ metadata, status }: ManifestWork): boolean {
  return isAppliedAt(metadata.generation, status?.conditions);
}

/** Whether the conditions of a work or manifest show that this generation was applied. */
export function isAppliedAt(
  generation: number | undefined,
  conditions: readonly Condition[] | undefined,
): boolean {
  const applied = findCondition(conditions, 'Applied');
  return applied?.status === 'True' && applied.observedGeneration === generation;
}

/** Longest name of a ManifestWork: the AppliedManifestWork's name puts a hash of 64 characters and a dash in front. */
const MAX_WORK_NAME_LENGTH = 188;

/**
 * Value of the label that links a ManifestWork to its ManifestWorkReplicaSet: `namespace.name` as
 * upstream, or a shortened form with a hash if that is not a valid label value (an error upstream).
 * Do not parse it; look it up.
 */
export function ownerLabelValue(replicaSet: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  const plain = `${replicaSet.namespace ?? ''}.${replicaSet.name}`;
  if (labelValueProblem(plain) === undefined) return plain;
  return `${plain.slice(0, 46).replace(/[^A-Za-z0-9]+$/, '')}-${hashText(plain)}`;
}

/**
 * Name of the work of one replica set and placement in a cluster's namespace. Derived, not generated: two passes over
 * old state cannot make two works, and two placements that choose the same cluster have a work each.
 */
export function childWorkName(
  replicaSet: Pick<ObjectMeta, 'namespace' | 'name'>,
  placement: string,
  part: number,
): string {
  const hash = hashText(`${replicaSet.namespace ?? ''}/${replicaSet.name}/${placement}`);
  const suffix = part === 0 ? `-${hash}` : `-${hash}-${part}`;
  const room = MAX_WORK_NAME_LENGTH - suffix.length;
  return `${replicaSet.name.slice(0, room).replace(/[^a-z0-9]+$/, '')}${suffix}`;
}

/** 64 bits of FNV-1a over UTF-16 units in two lanes, base 36. Not cryptographic: it only keeps names apart. */
export function hashText(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01234567;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ (unit + at), 0x85ebca6b) ^ (b >>> 13);
  }
  return ((a >>> 0) * 0x200000 + ((b >>> 0) & 0x1fffff)).toString(36).padStart(11, '0');
}
