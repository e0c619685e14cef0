import { deepEqual, getOwn, objectAt, textAt } from '../json/json-value.ts';
import type { JsonObject } from '../json/json-value.ts';
import { badRequest } from '../wire/status-errors.ts';
import { applyConflict } from './apply-conflict.ts';
import { checkConfig } from './check-config.ts';
import { isEmptySet } from './field-set.ts';
import type { ManagedEntry, Managers } from './managed-fields.ts';
import { decodeManagers, encodeManagers, identityOf, withoutManagedFields } from './managed-fields.ts';
import { mergeObjects } from './merge-values.ts';
import { ownableSet, withoutServerFields } from './ownable-fields.ts';
import { refuseTooManyManagers } from './manager-limit.ts';
import type { OwnershipRequest } from './ownership.ts';
import { findConflicts, managerOf, removeFromOtherManagers } from './ownership.ts';
import { pruneUnapplied } from './prune-unapplied.ts';
import { emptyObject, updatedManagers } from './track-update.ts';
import { fieldsOf } from './value-fields.ts';
import { VersionedChanges } from './versioned-changes.ts';

export interface ApplyRequest extends OwnershipRequest {
  /** Takes fields over instead of reporting conflicts. */
  readonly force: boolean;
}

/**
 * Server-side apply: merges the configuration into the live object, removes fields that the manager
 * no longer applies, and computes the new ownership. Throws 409 when the configuration changes
 * fields of others (unless forced), 400 when it does not fit the schema.
 * @param live undefined on create
 * @param config the configuration as sent; fields that the endpoint cannot write are ignored
 * @returns the merged object, before defaulting
 */
export function serverSideApply(
  request: ApplyRequest,
  live: JsonObject | undefined,
  config: JsonObject,
): JsonObject {
  if (Object.hasOwn(objectAt(config, 'metadata') ?? {}, 'managedFields')) {
    throw badRequest('metadata.managedFields must be nil');
  }
  checkConfig(request.ref, config);
  const schema = request.ref.version.schema;
  const sent = writablePart(request, config);
  const base = live === undefined ? emptyObject(request) : withoutManagedFields(live);
  const known = startingManagers(request, live, base);
  const manager = managerOf(request, 'Apply');
  const own = identityOf(manager);
  const former = known.get(own);
  const set = ownableSet(request.ref, request.subresource, fieldsOf(schema, sent));
  const managers = new Map<string, ManagedEntry>(known);
  managers.set(own, { ...manager, time: former?.time, set });
  refuseTooManyManagers(request, config, { count: managers.size, before: known.size });
  const merged = mergeObjects(schema, base, sent);
  const object = pruneUnapplied(request, merged, former, managers);
  const changes = new VersionedChanges(request, base, object);
  const conflicts = findConflicts(managers, own, changes);
  if (conflicts.length > 0 && !request.force) throw applyConflict(conflicts);
  const result = removeFromOtherManagers(managers, own, changes);
  const owned = withoutServerFields(set);
  if (isEmptySet(owned)) result.delete(own);
  else {
    // As in the API server, a configuration that changes nothing sets no time, even the first one
    // of a manager.
    const time = deepEqual(base, object) ? former?.time : request.now;
    result.set(own, { ...manager, time, set: owned });
  }
  return encodeManagers(object, result);
}

/** The status endpoint reads only status, the main endpoint never reads it. */
function writablePart(request: ApplyRequest, config: JsonObject): JsonObject {
  const { subresource, ref } = request;
  if (subresource === 'status') {
    const status = getOwn(config, 'status');
    return status === undefined ? {} : { status };
  }
  if (!ref.version.subresources.status) return config;
  const rest = { ...config };
  delete rest['status'];
  return rest;
}

/** The managers of an object without managedFields: its last writer owns everything. */
function startingManagers(request: ApplyRequest, live: JsonObject | undefined, base: JsonObject): Managers {
  const known = live === undefined ? undefined : decodeManagers(live);
  if (known !== undefined && known.size > 0) return known;
  if (live === undefined || textAt(objectAt(live, 'metadata'), 'uid') === '') return new Map();
  return updatedManagers({ ...request, manager: 'before-first-apply' }, new Map(), [
    emptyObject(request),
    base,
  ]);
}
