import type { KubeObject } from './object-meta.ts';

/** Names one object. `namespace` is '' for cluster-scoped kinds. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export function refOf(object: KubeObject): ObjectRef {
  const { name, namespace } = object.metadata;
  return { apiVersion: object.apiVersion, kind: object.kind, namespace: namespace ?? '', name };
}

/** The two parts of an `apiVersion`; the core group is ''. */
export function groupVersionOf(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  return { group: apiVersion.slice(0, Math.max(slash, 0)), version: apiVersion.slice(slash + 1) };
}

/**
 * A string that is equal for two references to the same object: a JSON array of API group, kind, namespace and name, without
 * the version.
 */
export function objectIdentity(ref: ObjectRef): string {
  return JSON.stringify([groupVersionOf(ref.apiVersion).group, ref.kind, ref.namespace, ref.name]);
}

const IDENTITIES = new WeakMap<KubeObject, string>();

/** `objectIdentity` of an object. It is computed once, because a fleet is compared by it many times. */
export function identityOf(object: KubeObject): string {
  let identity = IDENTITIES.get(object);
  if (identity === undefined) IDENTITIES.set(object, (identity = objectIdentity(refOf(object))));
  return identity;
}

/** `Placement team-a/web` or `ManagedCluster cluster1`: how messages name an object. */
export function formatRef(ref: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return ref.namespace === '' ? `${ref.kind} ${ref.name}` : `${ref.kind} ${ref.namespace}/${ref.name}`;
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key of work queues and maps. */
export function namespacedName(meta: {
  readonly namespace?: string | undefined;
  readonly name: string;
}): string {
  return meta.namespace === undefined || meta.namespace === '' ? meta.name : `${meta.namespace}/${meta.name}`;
}
