import type { JsonObject } from '../json/json-value.ts';
import { getOwn } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { apiVersionOf } from '../schema/resource-definition.ts';
import type { FieldConflict } from './apply-conflict.ts';
import type { Comparison } from './compare-values.ts';
import { compareValues } from './compare-values.ts';
import type { FieldSet } from './field-set.ts';
import { difference, EMPTY_SET, intersection, isEmptySet, union } from './field-set.ts';
import type { ManagedEntry, Manager, ManagerOperation, Managers } from './managed-fields.ts';
import { mayOverlap } from './managed-fields.ts';
import { ownableSet } from './ownable-fields.ts';

/** The attributes of a write that ownership depends on. */
export interface OwnershipRequest {
  readonly ref: ResourceRef;
  readonly subresource: string;
  /** Name of the field manager; '' counts as `unknown`. */
  readonly manager: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /**
   * Converts an object to another version; needed only if versions differ by more than their name.
   */
  readonly convert?: ((object: JsonObject, ref: ResourceRef) => JsonObject) | undefined;
}

/**
 * The changes of a write, in the version of each manager; undefined for a version that no longer
 * exists.
 */
export interface Changes {
  of(manager: ManagedEntry): Comparison | undefined;
}

export function managerOf(request: OwnershipRequest, operation: ManagerOperation): Manager {
  return {
    name: request.manager === '' ? 'unknown' : request.manager,
    operation,
    apiVersion: apiVersionOf(request.ref),
    subresource: request.subresource,
  };
}

/**
 * The changed fields that this endpoint can own. For the status endpoint only the status is
 * compared.
 */
export function ownableChanges(request: OwnershipRequest, before: JsonObject, after: JsonObject): Comparison {
  const { ref, subresource } = request;
  const [old, now] = subresource === 'status' ? [statusOf(before), statusOf(after)] : [before, after];
  const { added, modified, removed } = compareValues(ref.version.schema, old, now);
  return {
    added: ownableSet(ref, subresource, added),
    modified: ownableSet(ref, subresource, modified),
    removed: ownableSet(ref, subresource, removed),
  };
}

function statusOf(object: JsonObject): JsonObject {
  const status = getOwn(object, 'status');
  return status === undefined ? {} : { status };
}

/** Fields of other managers that the write changes. */
export function findConflicts(managers: Managers, own: string, changes: Changes): readonly FieldConflict[] {
  const conflicts: FieldConflict[] = [];
  for (const [identity, owner] of managers) {
    if (identity === own) continue;
    const { modified, added } = changes.of(owner) ?? NO_CHANGES;
    const fields = intersection(owner.set, union(modified, added));
    if (!isEmptySet(fields)) conflicts.push({ owner, fields });
  }
  return conflicts;
}

const NO_CHANGES: Comparison = { added: EMPTY_SET, modified: EMPTY_SET, removed: EMPTY_SET };

/**
 * Removes changed and deleted fields from all other managers, and managers that own nothing any
 * more.
 */
export function removeFromOtherManagers(
  managers: Managers,
  own: string,
  changes: Changes,
): Map<string, ManagedEntry> {
  const result = new Map<string, ManagedEntry>();
  const lostOf = lostFields(changes);
  for (const [identity, entry] of managers) {
    if (identity === own) {
      result.set(identity, entry);
      continue;
    }
    const lost = lostOf(entry);
    if (lost === undefined) continue;
    if (!mayOverlap(entry, lost) || isEmptySet(intersection(entry.set, lost))) {
      result.set(identity, entry);
      continue;
    }
    const { json: _json, ...rest } = entry;
    const set = difference(entry.set, lost);
    if (!isEmptySet(set)) result.set(identity, { ...rest, set });
  }
  return result;
}

/** The fields that a manager loses by a change; computed once per version. */
function lostFields(changes: Changes): (manager: ManagedEntry) => FieldSet | undefined {
  const known = new Map<Comparison, FieldSet>();
  return (manager) => {
    const step = changes.of(manager);
    if (step === undefined) return undefined;
    const lost = known.get(step) ?? union(union(step.modified, step.added), step.removed);
    known.set(step, lost);
    return lost;
  };
}
