import type { JsonObject } from '../json/json-value.ts';
import { getOwn } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { apiVersionOf } from '../schema/resource-definition.ts';
import type { FieldConflict } from './apply-conflict.ts';
import type { Comparison } from './compare-values.ts';
import { compareValues } from './compare-values.ts';
import { difference, intersection, isEmptySet, union } from './field-set.ts';
import type { ManagedEntry, Manager, ManagerOperation, Managers } from './managed-fields.ts';
import { mayShare } from './managed-fields.ts';
import { ownableSet } from './ownable-fields.ts';

/** A write in the eyes of ownership. */
export interface OwnershipRequest {
  readonly ref: ResourceRef;
  readonly subresource: string;
  /** Name of the field manager; '' counts as `unknown`. */
  readonly manager: string;
  /** RFC 3339, whole seconds. */
  readonly now: string;
}

export function managerOf(request: OwnershipRequest, operation: ManagerOperation): Manager {
  return {
    name: request.manager === '' ? 'unknown' : request.manager,
    operation,
    apiVersion: apiVersionOf(request.ref),
    subresource: request.subresource,
  };
}

/** What a write to this endpoint changed, without what the endpoint cannot own. The status endpoint owns status alone, so only that is compared. */
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
export function conflictsWith(
  managers: Managers,
  own: string,
  changes: Comparison,
): readonly FieldConflict[] {
  const touched = union(changes.modified, changes.added);
  const conflicts: FieldConflict[] = [];
  for (const [identity, owner] of managers) {
    if (identity === own) continue;
    const fields = intersection(owner.set, touched);
    if (!isEmptySet(fields)) conflicts.push({ owner, fields });
  }
  return conflicts;
}

/** Takes changed and removed fields away from all other managers; who owns nothing any more is gone. */
export function takeFromOthers(
  managers: Managers,
  own: string,
  changes: Comparison,
): Map<string, ManagedEntry> {
  const result = new Map<string, ManagedEntry>();
  if (managers.size === 0) return result;
  const lost = union(union(changes.modified, changes.added), changes.removed);
  for (const [identity, entry] of managers) {
    const untouched = identity === own || !mayShare(entry, lost) || isEmptySet(intersection(entry.set, lost));
    if (untouched) {
      result.set(identity, entry);
      continue;
    }
    const { json: _json, ...rest } = entry;
    const set = difference(entry.set, lost);
    if (!isEmptySet(set)) result.set(identity, { ...rest, set });
  }
  return result;
}
