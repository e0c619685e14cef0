import type { ResourceRef } from '../schema/resource-definition.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { selectedName } from './field-selector.ts';
import type { ListOptions } from './list-options.ts';

/**
 * The stored objects that a list reads, in key order, before its selectors are applied. For a
 * selector by name within one namespace, or of a kind without namespaces, this is one object, as in
 * an API server: clients read one object in this way when they need its version as a list.
 * Source: kubernetes/apiserver `pkg/registry/generic/registry/store.go`, ListPredicate.
 * @param namespace undefined: all namespaces
 */
export function selectableObjects(
  store: Pick<ObjectStore, 'get' | 'list'>,
  { definition }: ResourceRef,
  namespace: string | undefined,
  { fields }: Pick<ListOptions, 'fields'>,
): StoredObject[] {
  const storage = definition.storageKey;
  const name = selectedName(fields);
  if (name === '' || (definition.namespaced && namespace === undefined))
    return store.list(storage, namespace);
  const one = store.get({ storage, namespace: namespace ?? '', name });
  return one === undefined ? [] : [one];
}
