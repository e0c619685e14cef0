import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { FieldSet } from './field-set.ts';
import { fieldSetFromJson, fieldSetToJson, isEmptySet } from './field-set.ts';

export type ManagerOperation = 'Apply' | 'Update';

/** Who wrote how. The apiVersion tells Update managers apart, not Apply managers. */
export interface Manager {
  readonly name: string;
  readonly operation: ManagerOperation;
  readonly apiVersion: string;
  readonly subresource: string;
}

/** One entry of `metadata.managedFields`. */
export interface ManagedEntry extends Manager {
  readonly time: string | undefined;
  readonly set: FieldSet;
  /** How the entry was read; stays while nothing about it changes, so that it need not be written anew. */
  readonly json?: JsonObject;
}

/** Managers of one object by identity. */
export type Managers = ReadonlyMap<string, ManagedEntry>;

export function identityOf(manager: Manager): string {
  const version = manager.operation === 'Apply' ? '' : manager.apiVersion;
  return JSON.stringify([manager.name, manager.operation, version, manager.subresource]);
}

/** Reads `metadata.managedFields`; undefined when an entry is malformed (then the whole list counts as unreadable). */
export function decodeManagers(object: JsonObject): Managers | undefined {
  const managers = new Map<string, ManagedEntry>();
  for (const entry of listAt(objectAt(object, 'metadata'), 'managedFields')) {
    if (!isObject(entry)) return undefined;
    const operation = textAt(entry, 'operation');
    if (operation !== 'Apply' && operation !== 'Update') return undefined;
    const time = textAt(entry, 'time');
    const decoded: ManagedEntry = {
      name: textAt(entry, 'manager'),
      operation,
      apiVersion: textAt(entry, 'apiVersion'),
      subresource: textAt(entry, 'subresource'),
      time: time === '' ? undefined : time,
      set: fieldSetFromJson(entry['fieldsV1']),
      json: entry,
    };
    managers.set(identityOf(decoded), decoded);
  }
  return managers;
}

/** `managedFields: [{}]` asks to forget all ownership. */
export function isReset(object: JsonObject): boolean {
  const entries = listAt(objectAt(object, 'metadata'), 'managedFields');
  return (
    entries.length === 1 &&
    isObject(entries[0]) &&
    Object.values(entries[0]).every((value) => value === null || value === '')
  );
}

/** The object with these managers: sorted by operation, time, name; without the field when there are none. */
export function encodeManagers(object: JsonObject, managers: Managers): JsonObject {
  const metadata: JsonObject = { ...objectAt(object, 'metadata') };
  delete metadata['managedFields'];
  const entries = [...managers.values()].filter((entry) => !isEmptySet(entry.set)).sort(compareEntries);
  if (entries.length > 0) metadata['managedFields'] = entries.map(encodeEntry);
  return { ...object, metadata };
}

function encodeEntry(entry: ManagedEntry): JsonValue {
  return (
    entry.json ?? {
      manager: entry.name,
      operation: entry.operation,
      apiVersion: entry.apiVersion,
      ...(entry.time === undefined ? {} : { time: entry.time }),
      fieldsType: 'FieldsV1',
      fieldsV1: fieldSetToJson(entry.set),
      ...(entry.subresource === '' ? {} : { subresource: entry.subresource }),
    }
  );
}

function compareEntries(left: ManagedEntry, right: ManagedEntry): number {
  const keys = (entry: ManagedEntry): readonly string[] => [
    entry.operation,
    entry.time ?? '',
    entry.name,
    entry.apiVersion,
    entry.subresource,
  ];
  const [a, b] = [keys(left), keys(right)];
  const index = a.findIndex((text, at) => text !== b[at]);
  return index < 0 ? 0 : (a[index] as string) < (b[index] as string) ? -1 : 1;
}

export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = objectAt(object, 'metadata');
  if (metadata === undefined || !Object.hasOwn(metadata, 'managedFields')) return object;
  const rest = { ...metadata };
  delete rest['managedFields'];
  return { ...object, metadata: rest };
}
