import type { KubeObject } from '@berth/kube/model/object-meta';
import { itemName, keyName, restAfter } from './field-names.ts';
import { type Fields, type ManagedFields, managedFieldsOf } from './manager-fields.ts';

/** A manager that owns a field: it was the last to write it. */
export type FieldHolder = Required<Pick<ManagedFields, 'manager' | 'operation' | 'subresource'>>;

/**
 * The other managers that own a field, by the managedFields of the live object.
 * @param name the field, as a conflict names it
 * @param manager our manager, which is skipped
 */
export function fieldHolders(live: KubeObject, name: string, manager: string): readonly FieldHolder[] {
  return managedFieldsOf(live)
    .map(({ manager: by = '', operation = '', subresource = '', fieldsV1 = {} }) => ({
      holder: { manager: by, operation, subresource },
      fieldsV1,
    }))
    .filter(({ holder }) => !(holder.manager === manager && holder.operation === 'Apply'))
    .filter(({ fieldsV1 }) => owns(fieldsV1, name))
    .map(({ holder }) => holder);
}

/** Whether a node of the tree owns its field: it has no children, or contains `.`. */
function owns(tree: Fields, name: string): boolean {
  if (name === '') return tree['.'] !== undefined || Object.keys(tree).length === 0;
  return Object.entries(tree).some(([element, below = {}]) => {
    const beginning = elementName(element);
    const rest = beginning === undefined ? undefined : restAfter(name, beginning);
    return rest !== undefined && owns(below, rest);
  });
}

/** An element of the tree as conflicts write it; undefined for `.`. Source: structured-merge-diff `fieldpath/serialize-pe.go`. */
function elementName(element: string): string | undefined {
  const text = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'f:':
      return `.${text}`;
    case 'k:':
      return keyName(JSON.parse(text) as Readonly<Record<string, unknown>>);
    case 'v:':
      return itemName(JSON.parse(text));
    case 'i:':
      return `[${text}]`;
    default:
      return undefined;
  }
}
