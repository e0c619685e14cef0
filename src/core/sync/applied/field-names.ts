import type { FieldPath } from '@berth/kube/model/field-path';
import type { KubeObject } from '@berth/kube/model/object-meta';

/**
 * Finds a field by the name that a conflict of server-side apply gives it: `.spec.replicas`,
 * `.metadata.labels.app.kubernetes.io/name`, `.spec.containers[name="web"].image`,
 * `.metadata.finalizers[="a"]`, `[3]`. A name may contain dots, so the value decides where a name
 * ends. Source of the notation: sigs.k8s.io/structured-merge-diff `fieldpath/element.go`
 * (PathElement.String).
 * @returns undefined when the value has no such field
 */
export function findField(value: unknown, name: string): FieldPath | undefined {
  if (name === '') return [];
  if (Array.isArray(value)) return findItem(value as readonly unknown[], name);
  if (typeof value !== 'object' || value === null) return undefined;
  for (const key of Object.keys(value)) {
    const rest = restAfter(name, `.${key}`);
    const path = rest === undefined ? undefined : findField((value as Fields)[key], rest);
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

/**
 * The rest of the text after a prefix that ends at the end of a name; undefined if the text does
 * not have the prefix.
 */
export function restAfter(text: string, beginning: string): string | undefined {
  if (!text.startsWith(beginning)) return undefined;
  const rest = text.slice(beginning.length);
  return rest === '' || rest.startsWith('.') || rest.startsWith('[') ? rest : undefined;
}

/**
 * `[effect="NoSelect",key="a"]`: the fields that identify an item.
 * @param key field to value
 */
export function keyName(key: Fields): string {
  const parts = Object.keys(key)
    .sort()
    .map((name) => `${name}=${JSON.stringify(key[name])}`);
  return `[${parts.join(',')}]`;
}

/** `[="a"]`: an item of a set. */
export function itemName(value: unknown): string {
  return `[=${JSON.stringify(value)}]`;
}

type Fields = Readonly<Record<string, unknown>>;

function findItem(items: readonly unknown[], name: string): FieldPath | undefined {
  for (const [at, item] of items.entries()) {
    const rest =
      restAfter(name, itemName(item)) ?? restAfter(name, `[${String(at)}]`) ?? restAfterKey(item, name);
    const path = rest === undefined ? undefined : findField(item, rest);
    if (path !== undefined) return [at, ...path];
  }
  return undefined;
}

/** `port=80` or `key="a"`, in the key of an item. */
const KEY_FIELD = /^([^=\]]+)=("(?:[^"\\]|\\.)*"|[^,"\]]+)[,\]]/;

/**
 * The rest of the text after the key of an item, if the item has these fields. A field that the
 * item does not set has its default (the protocol of a port).
 */
function restAfterKey(item: unknown, name: string): string | undefined {
  if (typeof item !== 'object' || item === null || !name.startsWith('[')) return undefined;
  let [text, same] = [name.slice(1), 0];
  for (let end = ','; end === ','; ) {
    const [all, field = '', value = ''] = KEY_FIELD.exec(text) ?? [];
    if (all === undefined) return undefined;
    const own = (item as Fields)[field];
    if (own !== undefined && JSON.stringify(own) !== value) return undefined;
    if (own !== undefined) same += 1;
    text = text.slice(all.length);
    end = all.slice(-1);
  }
  return same === 0 ? undefined : restAfter(`]${text}`, ']');
}

/** `metadata.managedFields`, as far as it is read here. Source of the format: KEP-555, `fieldsV1`. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: ManagedFieldSet;
}
/** `fieldsV1`: a tree of the owned fields. */
export interface ManagedFieldSet {
  readonly [name: string]: ManagedFieldSet | undefined;
}

/** The fields that the manager owns by apply; undefined when it never applied the object. */
export function managerApplies(live: KubeObject, manager: string): ManagedFieldSet | undefined {
  return managedFieldsOf(live).find(
    (one) => one.manager === manager && one.operation === 'Apply' && (one.subresource ?? '') === '',
  )?.fieldsV1;
}

/** The managedFields; empty if the object was read without them. */
export function managedFieldsOf(live: KubeObject): readonly ManagedFields[] {
  return (live.metadata.managedFields ?? []) as readonly ManagedFields[];
}

/** Field manager of everything that comes from Git. */
export const FIELD_MANAGER = 'berth';

/** Field manager of what stays of an object that left Git, where nobody else owned it. */
export const WITHDRAWN_MANAGER = 'berth-withdrawn';

/** Whether the entry lists what Git applied. Other writes of Berth have the operation Update. */
export function isFromGit({ manager, operation, subresource = '' }: ManagedFields): boolean {
  return manager === FIELD_MANAGER && operation === 'Apply' && subresource === '';
}
