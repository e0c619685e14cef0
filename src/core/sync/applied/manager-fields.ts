import type { KubeObject } from '../../model/object-meta.ts';

/** `metadata.managedFields`, as far as it is read here. Source of the format: KEP-555, `fieldsV1`. */
interface ManagedFields {
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
  const { managedFields = [] } = live.metadata;
  return (managedFields as readonly ManagedFields[]).find(
    (one) => one.manager === manager && one.operation === 'Apply' && (one.subresource ?? '') === '',
  )?.fieldsV1;
}
