import { type JsonObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { Schema } from '../schema/schema.ts';
import { zeroObject } from '../schema/typed-form.ts';
import type { FieldSet } from './field-set.ts';
import { EMPTY_SET, difference, equalSets, isEmptySet, union, unionOfAll } from './field-set.ts';
import type { ManagedEntry, Managers } from './managed-fields.ts';
import {
  decodeManagers,
  encodeManagers,
  identityOf,
  isReset,
  withoutManagedFields,
} from './managed-fields.ts';
import {
  type OwnershipRequest,
  managerOf,
  removeFromOtherManagers,
  refuseTooManyManagers,
  withoutServerFields,
} from './ownership.ts';
import { VersionedChanges } from './versioned-changes.ts';

/** Maximum number of Update managers of one object; older ones are merged into one entry. */
const UPDATE_MANAGER_LIMIT = 10;
const POOLED = 'ancient-changes';

/**
 * Ownership after a create, update or patch: the manager owns what it added or changed, and the
 * others lose changed and removed fields.
 * @param before undefined on create
 * @returns `after` with its managedFields; objects that nobody tracks (reset before) stay untracked
 */
export function trackUpdate(
  request: OwnershipRequest,
  before: JsonObject | undefined,
  after: JsonObject,
): JsonObject {
  const known = managersOf(request, before, after);
  const exists = before !== undefined && textAt(objectAt(before, 'metadata'), 'uid') !== '';
  if (known.size === 0 && exists) return withoutManagedFields(after);
  // These fields have no owner, and the status endpoint ignores metadata.
  const withoutUntracked = request.subresource === 'status' ? (one: JsonObject) => one : withoutManagedFields;
  const old = before === undefined ? emptyObject(request) : withoutUntracked(before);
  const now = withoutUntracked(after);
  return encodeManagers(after, poolOldUpdates(updatedManagers(request, known, [old, now])));
}

const empty = new WeakMap<Schema, JsonObject>();

/**
 * The object that a new one is compared with: for a built-in kind the zero value of its Go type.
 */
export function emptyObject({ ref: { definition, version } }: OwnershipRequest): JsonObject {
  const known = empty.get(version.schema);
  if (known !== undefined) return known;
  const named: JsonObject = { apiVersion: '', kind: definition.kind };
  const zero = definition.builtIn ? { ...zeroObject(version.schema), ...named } : named;
  empty.set(version.schema, zero);
  return zero;
}

/** The managers after a change of the object. */
export function updatedManagers(
  request: OwnershipRequest,
  known: Managers,
  [old, now]: readonly [JsonObject, JsonObject],
): Map<string, ManagedEntry> {
  const versioned = new VersionedChanges(request, old, now);
  const changes = versioned.own;
  const manager = managerOf(request, 'Update');
  const own = identityOf(manager);
  const managers = removeFromOtherManagers(known, own, versioned);
  const former = known.get(own);
  const gained = withoutServerFields(union(changes.modified, changes.added));
  const set = union(difference(former?.set ?? EMPTY_SET, changes.removed), gained);
  if (isEmptySet(set)) managers.delete(own);
  else {
    const time =
      former !== undefined && isEmptySet(gained) && equalSets(former.set, set) ? former.time : request.now;
    managers.set(own, { ...manager, time, set });
  }
  return managers;
}

/** The managers a write starts from: its own list when it sends one, else those of the live object. */
function managersOf(request: OwnershipRequest, before: JsonObject | undefined, after: JsonObject): Managers {
  const live = before === undefined ? undefined : decodeManagers(before);
  if (request.subresource !== '') return live ?? new Map();
  if (isReset(after)) return new Map();
  const sent = listAt(objectAt(after, 'metadata'), 'managedFields').length;
  if (sent === 0) return live ?? new Map();
  refuseTooManyManagers(request, after, { count: sent, before: live?.size ?? 0 });
  return decodeManagers(after) ?? live ?? new Map();
}

function poolOldUpdates(managers: Map<string, ManagedEntry>): Map<string, ManagedEntry> {
  const updates = [...managers].filter(([, entry]) => entry.operation === 'Update' && entry.name !== POOLED);
  if (updates.length <= UPDATE_MANAGER_LIMIT) return managers;
  const oldest = updates
    .sort(([, a], [, b]) => ((a.time ?? '') < (b.time ?? '') ? -1 : 1))
    .slice(0, updates.length - UPDATE_MANAGER_LIMIT + 1);
  const result = new Map(managers);
  const pools = new Map<string, { readonly sets: FieldSet[]; newest: ManagedEntry }>();
  for (const [identity, entry] of oldest) {
    result.delete(identity);
    const { json: _json, ...rest } = entry;
    const pool = { ...rest, name: POOLED, subresource: '', set: entry.set };
    const own = identityOf(pool);
    const known = pools.get(own);
    const before = result.get(own)?.set;
    if (known === undefined)
      pools.set(own, { sets: before === undefined ? [pool.set] : [before, pool.set], newest: pool });
    else {
      known.sets.push(pool.set);
      known.newest = pool;
    }
  }
  for (const [identity, { sets, newest }] of pools)
    result.set(identity, { ...newest, set: unionOfAll(sets) });
  return result;
}
