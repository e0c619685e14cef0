import { type JsonObject, getOwn, objectAt, textAt } from '../json/json-value.ts';
import { tooMany } from '../schema/field-problems.ts';
import { type ResourceRef, apiVersionOf } from '../schema/resource-definition.ts';
import { StatusError } from '../wire/status-error.ts';
import { invalid } from '../wire/status-errors.ts';
import { compareValues, type Comparison } from './compare-values.ts';
import {
  type FieldSet,
  difference,
  EMPTY_SET,
  intersection,
  isEmptySet,
  union,
  memberCount,
  memberPaths,
  setOfPaths,
} from './field-set.ts';
import {
  type ManagedEntry,
  type Manager,
  type ManagerOperation,
  type Managers,
  mayOverlap,
} from './managed-fields.ts';

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

/** Fields that the server sets or that are immutable. They have no owner. */
const SERVER_FIELDS = setOfPaths([
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'resourceVersion',
    'managedFields',
    'selfLink',
  ].map((name) => ['f:metadata', `f:${name}`]),
]);

export function withoutServerFields(set: FieldSet): FieldSet {
  return difference(set, SERVER_FIELDS);
}

const STATUS = 'f:status';

/**
 * The fields that a request to this endpoint can own: `status` only the status, the main endpoint
 * everything else.
 */
export function ownableSet(ref: ResourceRef, subresource: string, set: FieldSet): FieldSet {
  const status = set.children.get(STATUS);
  if (subresource === 'status') {
    return {
      members: new Set(set.members.has(STATUS) ? [STATUS] : []),
      children: status === undefined ? EMPTY_SET.children : new Map([[STATUS, status]]),
    };
  }
  if (!ref.version.subresources.status || subresource !== '') return set;
  if (status === undefined && !set.members.has(STATUS)) return set;
  const members = new Set(set.members);
  const children = new Map(set.children);
  members.delete(STATUS);
  children.delete(STATUS);
  return { members, children };
}

interface FieldConflict {
  readonly owner: ManagedEntry;
  readonly fields: FieldSet;
}

/** 409: fields of an applied configuration are owned by other managers, with other values. */
export function applyConflict(conflicts: readonly FieldConflict[]): StatusError {
  const count = conflicts.reduce((sum, { fields }) => sum + memberCount(fields), 0);
  const rows = namedConflicts(conflicts);
  const causes = rows.flatMap(({ owner, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field })),
  );
  const [only] = causes;
  if (count === 1 && only !== undefined) {
    const message = `Apply failed with 1 conflict: ${only.message}: ${only.field}`;
    return new StatusError(409, 'Conflict', message, { causes });
  }
  const lines = rows.map(
    ({ owner, paths }) => `conflicts with ${owner}:\n${paths.map((path) => `- ${path}`).join('\n')}`,
  );
  if (count > causes.length) lines.push(`...(${String(count - causes.length)} more conflicts)`);
  const message = `Apply failed with ${String(count)} conflicts: ${lines.join('\n')}`;
  return new StatusError(409, 'Conflict', message, { causes });
}

interface NamedConflict {
  readonly owner: string;
  readonly paths: readonly string[];
}

/** Maximum number of conflicting fields in one response, which also contains the total number. */
const MAX_REPORTED = 100;

/** The first conflicts, by the names of their managers. */
function namedConflicts(conflicts: readonly FieldConflict[]): readonly NamedConflict[] {
  const byOwner = conflicts
    .map(({ owner, fields }) => ({ owner: managerText(owner), fields }))
    .sort((a, b) => (a.owner < b.owner ? -1 : 1));
  const rows: NamedConflict[] = [];
  let room = MAX_REPORTED;
  for (const { owner, fields } of byOwner) {
    if (room === 0) break;
    const paths = memberPaths(fields, room);
    room -= paths.length;
    rows.push({ owner, paths });
  }
  return rows;
}

function managerText(entry: ManagedEntry): string {
  const subresource =
    entry.subresource === '' ? '' : ` with subresource ${JSON.stringify(entry.subresource)}`;
  const name = `${JSON.stringify(entry.name)}${subresource}`;
  return entry.operation === 'Update' ? `${name} using ${entry.apiVersion}` : name;
}

/**
 * Maximum number of entries in `metadata.managedFields`. Upstream limits Update entries only (ten,
 * then they are merged). Each new name of an apply manager adds an entry, and every later apply
 * compares all of them.
 */
const MAX_MANAGERS = 1_000;

/**
 * @param managers `count` after the write, `before` in the stored object: one that has more already can still be changed
 * @throws StatusError 422
 */
export function refuseTooManyManagers(
  { ref }: OwnershipRequest,
  object: JsonObject,
  managers: { readonly count: number; readonly before: number },
): void {
  if (managers.count <= Math.max(MAX_MANAGERS, managers.before)) return;
  const name = textAt(objectAt(object, 'metadata'), 'name');
  throw invalid(ref.definition, name, [tooMany('metadata.managedFields', managers.count, MAX_MANAGERS)]);
}
