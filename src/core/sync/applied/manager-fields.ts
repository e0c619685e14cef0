import type { KubeObject } from '@berth/kube/model/object-meta';

/** `metadata.managedFields`, as far as it is read here. Source of the format: KEP-555, `fieldsV1`. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: Fields;
}
/** `fieldsV1`: a tree of the owned fields. */
export interface Fields {
  readonly [name: string]: Fields | undefined;
}

/** The fields that the manager owns by apply; undefined when it never applied the object. */
export function managerApplies(live: KubeObject, manager: string): Fields | undefined {
  return managedFieldsOf(live).find(
    (one) => one.manager === manager && one.operation === 'Apply' && (one.subresource ?? '') === '',
  )?.fieldsV1;
}

/** The managedFields; empty if the object was read without them. */
export function managedFieldsOf(live: KubeObject): readonly ManagedFields[] {
  return (live.metadata.managedFields ?? []) as readonly ManagedFields[];
}
