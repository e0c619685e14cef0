import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { isObject, listAt, objectAt, textAt, withoutKey } from '../json/json-value.ts';
import { type FieldSet, fieldSetFromJson, fieldSetToJson, hasMember, isEmptySet } from './field-set.ts';

export type ManagerOperation = 'Apply' | 'Update';

/**
 * Identity of a field manager. The apiVersion distinguishes Update managers, not Apply managers.
 */
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
  /** The JSON of the entry, kept while it is unchanged, so that it need not be encoded again. */
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
    const decoded = new ReadEntry(entry, operation);
    managers.set(identityOf(decoded), decoded);
  }
  return managers;
}

/** An entry whose field set is decoded on first use, since most writes need only a few entries. */
class ReadEntry implements ManagedEntry {
  readonly name: string;
  readonly operation: ManagerOperation;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly json: JsonObject;
  #set: FieldSet | undefined;

  constructor(json: JsonObject, operation: ManagerOperation) {
    this.name = textAt(json, 'manager');
    this.operation = operation;
    this.apiVersion = textAt(json, 'apiVersion');
    this.subresource = textAt(json, 'subresource');
    this.time = textAt(json, 'time') || undefined;
    this.json = json;
  }

  get set(): FieldSet {
    this.#set ??= fieldSetFromJson(this.json['fieldsV1']);
    return this.#set;
  }
}

/** Whether the entry may share a field with the set, without decoding the entry. */
export function mayOverlap(entry: ManagedEntry, fields: FieldSet): boolean {
  const roots = entry.json === undefined ? undefined : objectAt(entry.json, 'fieldsV1');
  if (roots === undefined) return true;
  for (const root of fields.members) if (Object.hasOwn(roots, root)) return true;
  for (const root of fields.children.keys()) if (Object.hasOwn(roots, root)) return true;
  return false;
}

/** `managedFields: [{}]` resets all ownership. */
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
  const metadata: JsonObject = { ...withoutKey(objectAt(object, 'metadata') ?? {}, 'managedFields') };
  const entries = [...managers.values()].filter(ownsSomething).sort(compareEntries);
  if (entries.length > 0) metadata['managedFields'] = entries.map(encodeEntry);
  return { ...object, metadata };
}

function ownsSomething(entry: ManagedEntry): boolean {
  return entry.json === undefined ? !isEmptySet(entry.set) : hasMember(entry.json['fieldsV1']);
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
  return { ...object, metadata: withoutKey(metadata, 'managedFields') };
}
