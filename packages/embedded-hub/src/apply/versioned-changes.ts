import type { JsonObject } from '../json/json-value.ts';
import { apiVersionOf, type ResourceRef } from '../schema/resource-definition.ts';
import type { Comparison } from './compare-values.ts';
import type { ManagedEntry } from './managed-fields.ts';
import { ownableChanges, type OwnershipRequest } from './ownership.ts';

/**
 * Managers own fields of the version that they wrote. If versions differ by more than their name,
 * the changes of a write are computed in the version of each manager. Source: structured-merge-diff
 * `merge/update.go`.
 */

/** The version that a manager wrote; undefined if the definition no longer has it. */
export function versionOfManager(
  { ref, convert }: OwnershipRequest,
  { apiVersion }: Pick<ManagedEntry, 'apiVersion'>,
): ResourceRef | undefined {
  const { definition } = ref;
  if (convert === undefined || definition.conversion === undefined || apiVersion === apiVersionOf(ref))
    return ref;
  const version = definition.versions.find(
    (one) => apiVersionOf({ definition, version: one }) === apiVersion,
  );
  return version === undefined ? undefined : { definition, version };
}

/**
 * An object of the request in the version of a manager.
 * @throws ConversionNeeded
 */
export function inVersion({ convert }: OwnershipRequest, object: JsonObject, ref: ResourceRef): JsonObject {
  if (convert === undefined || object['apiVersion'] === apiVersionOf(ref)) return object;
  // An object with nothing but its kind needs no webhook.
  if (Object.keys(object).every((key) => key === 'apiVersion' || key === 'kind')) return object;
  return ref.definition.conversion === undefined ? object : convert(object, ref);
}

/** The difference between two objects, in each version. */
export class VersionedChanges {
  readonly own: Comparison;
  readonly #request: OwnershipRequest;
  readonly #objects: readonly [before: JsonObject, after: JsonObject];
  readonly #others = new Map<string, Comparison>();

  constructor(request: OwnershipRequest, before: JsonObject, after: JsonObject) {
    this.#request = request;
    this.#objects = [before, after];
    this.own = compareInVersion(request, this.#objects, request.ref);
  }

  /** Undefined for a manager of a removed version, whose fields can no longer be compared. */
  of(manager: ManagedEntry): Comparison | undefined {
    const ref = versionOfManager(this.#request, manager);
    if (ref === undefined) return undefined;
    if (ref.version === this.#request.ref.version) return this.own;
    const known = this.#others.get(manager.apiVersion);
    const changes = known ?? compareInVersion(this.#request, this.#objects, ref);
    this.#others.set(manager.apiVersion, changes);
    return changes;
  }
}

function compareInVersion(
  request: OwnershipRequest,
  objects: readonly [JsonObject, JsonObject],
  ref: ResourceRef,
): Comparison {
  const [before, after] = objects.map((one) => inVersion(request, one, ref));
  return ownableChanges({ ...request, ref }, before as JsonObject, after as JsonObject);
}
