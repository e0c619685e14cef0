import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import type { Application } from '../argocd-kinds.ts';

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

/**
 * The labels and annotations of the basic pull model, as in OCM's controller for Argo CD
 * (open-cluster-management-io/argocd-pull-integration, mode basic).
 */
const PREFIX = 'apps.open-cluster-management.io';

/** On an Application: a managed cluster pulls it. On a ManifestWork: it contains such an Application. */
export const PULL_LABEL = `${PREFIX}/pull-to-ocm-managed-cluster`;
/** On an Application: the managed cluster that pulls it. */
export const PULL_CLUSTER_ANNOTATION = `${PREFIX}/ocm-managed-cluster`;
/** On an Application: its namespace on the managed cluster. */
export const PULL_NAMESPACE_ANNOTATION = `${PREFIX}/ocm-managed-cluster-app-namespace`;
/** On an Application: `spec.destination.name` on the managed cluster. */
export const DESTINATION_NAME_ANNOTATION = `${PREFIX}/destination-name`;
/** On an Application: `spec.destination.server` on the managed cluster. */
export const DESTINATION_SERVER_ANNOTATION = `${PREFIX}/destination-server`;
/** On an Application: Argo CD on the hub ignores it. */
export const SKIP_RECONCILE_ANNOTATION = 'argocd.argoproj.io/skip-reconcile';

/** On an Application: its Argo CD compares it with Git now, and removes the annotation afterwards. */
export const REFRESH_ANNOTATION = 'argocd.argoproj.io/refresh';
/** On an Application: when the refresh was requested, RFC 3339. Argo CD writes it since 3.6. */
export const REFRESH_TIME_ANNOTATION = 'argocd.argoproj.io/refresh-timestamp';

/** On a ManifestWork: namespace and name of the hub's Application. */
export const HUB_NAMESPACE_ANNOTATION = `${PREFIX}/hub-application-namespace`;
export const HUB_NAME_ANNOTATION = `${PREFIX}/hub-application-name`;
/**
 * On a ManifestWork and its Application: `namespace/name` of the ApplicationSet. On a report it is a label, with a dot.
 */
export const HOSTING_SET_KEY = `${PREFIX}/hosting-applicationset`;
/** On a ManifestWork and its Application: an ApplicationSet created it. */
export const FROM_SET_LABEL = `${PREFIX}/application-set`;

/** On an Application, value `full`: more of its status is reported than OCM's controller requests. */
export const FEEDBACK_ANNOTATION = 'berth.dev/pull-feedback';
/** On an Application: how many managed clusters may hold Applications of its ApplicationSet at the same time. */
export const MAX_COPIES_ANNOTATION = 'berth.dev/max-copies';
