import type { Application } from '../argo-application.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import {
  HOSTING_SET_KEY,
  HUB_NAME_ANNOTATION,
  HUB_NAMESPACE_ANNOTATION,
  PULL_CLUSTER_ANNOTATION,
  PULL_LABEL,
} from './pull-keys.ts';

/** The texts that Go's strconv.ParseBool reads as true. */
const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
/** Number of digits of the Application's uid in the name of its work. */
const UID_DIGITS = 5;

/** The managed cluster that pulls the Application; undefined if none does. */
export function pullCluster({ metadata }: Pick<Application, 'metadata'>): string | undefined {
  if (!TRUE.has(metadata.labels?.[PULL_LABEL] ?? '')) return undefined;
  const cluster = metadata.annotations?.[PULL_CLUSTER_ANNOTATION];
  return cluster === '' ? undefined : cluster;
}

export function pullWorkName({ name, uid = '' }: ObjectMeta): string {
  return `${name}-${uid.slice(0, UID_DIGITS)}`;
}

/** `namespace/name` of the ApplicationSet that owns the Application. */
export function hostingSet({ namespace = '', ownerReferences = [] }: ObjectMeta): string | undefined {
  const owner = ownerReferences.find(
    ({ apiVersion, kind }) =>
      apiVersion.toLowerCase() === 'argoproj.io/v1alpha1' && kind.toLowerCase() === 'applicationset',
  );
  return owner === undefined ? undefined : `${namespace}/${owner.name}`;
}

/** `namespace/name` of the hub's Application in the work; undefined for a work of others. */
export function hubApplicationOf({ metadata }: Pick<ManifestWork, 'metadata'>): string | undefined {
  if (!TRUE.has(metadata.labels?.[PULL_LABEL] ?? '')) return undefined;
  const namespace = metadata.annotations?.[HUB_NAMESPACE_ANNOTATION] ?? '';
  const name = metadata.annotations?.[HUB_NAME_ANNOTATION] ?? '';
  return namespace === '' || name === '' ? undefined : `${namespace}/${name}`;
}

export function isPullWork({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return hubApplicationOf({ metadata }) !== undefined;
}

/** `namespace/name` of the ApplicationSet of a work. */
export function hostingSetOfWork({ metadata }: Pick<ManifestWork, 'metadata'>): string | undefined {
  return metadata.annotations?.[HOSTING_SET_KEY];
}

/**
 * The group of an ApplicationSet.
 * @param set `namespace/name`
 */
export function setGroup(set: string): string {
  return `ApplicationSet ${set}`;
}

/** The group of the Applications in a namespace that belong to no ApplicationSet. */
export function looseGroup(namespace: string): string {
  return `Applications in ${namespace}`;
}

/**
 * The group of works whose removals count together: those of one ApplicationSet, or those of the Applications in one
 * namespace that belong to no ApplicationSet. Undefined for a work of others.
 */
export function removalGroup(work: Pick<ManifestWork, 'metadata'>): string | undefined {
  if (hubApplicationOf(work) === undefined) return undefined;
  const set = hostingSetOfWork(work);
  if (set !== undefined) return setGroup(set);
  return looseGroup(work.metadata.annotations?.[HUB_NAMESPACE_ANNOTATION] ?? '');
}
