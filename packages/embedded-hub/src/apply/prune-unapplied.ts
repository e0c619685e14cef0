import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';
import type { FieldSet } from './field-set.ts';
import { difference, intersection, isEmptySet, union, unionOfAll } from './field-set.ts';
import type { ManagedEntry, Managers } from './managed-fields.ts';
import type { OwnershipRequest } from './ownership.ts';
import { removeFields } from './remove-fields.ts';
import { fieldsOf, withNamedFields } from './value-fields.ts';
import { inVersion, versionOfManager } from './versioned-changes.ts';

/**
 * Removes fields that the manager applied before and no longer applies, unless another manager owns
 * them. Each manager is evaluated in the version that it wrote. Source: structured-merge-diff
 * `merge/update.go` (prune).
 * @param merged the live object merged with the new configuration
 * @param former the fields that the manager applied before
 * @param managers all managers, with the new configuration as sent (including metadata.name, which
 * would be removed otherwise)
 */
export function pruneUnapplied(
  request: OwnershipRequest,
  merged: JsonObject,
  former: ManagedEntry | undefined,
  managers: Managers,
): JsonObject {
  const last = former === undefined ? undefined : versionOfManager(request, former);
  if (former === undefined || last === undefined || isEmptySet(former.set)) return merged;
  const { schema } = last.version;
  const mergedInLast = inVersion(request, merged, last);
  const lastNamed = withNamedFields(schema, former.set);
  let kept = removeFields(schema, mergedInLast, lastNamed);
  for (const { ref, owned } of ownedByVersion(request, managers, last)) {
    const schemaOfOwner = ref.version.schema;
    const [all, remaining] = [inVersion(request, mergedInLast, ref), inVersion(request, kept, ref)];
    const named = withNamedFields(schemaOfOwner, owned);
    kept = removeFields(
      schemaOfOwner,
      all,
      difference(namedFields(schemaOfOwner, all), union(namedFields(schemaOfOwner, remaining), named)),
    );
  }
  const removed = difference(
    namedFields(schema, mergedInLast),
    namedFields(schema, inVersion(request, kept, last)),
  );
  const pruned = removeFields(schema, mergedInLast, intersection(removed, lastNamed));
  return inVersion(request, pruned, request.ref);
}

function namedFields(schema: Schema, object: JsonObject): FieldSet {
  return withNamedFields(schema, fieldsOf(schema, object));
}

interface Owned {
  readonly ref: ResourceRef;
  readonly owned: FieldSet;
}

/** The union of the fields of all managers by version, starting with the version `first`. */
function ownedByVersion(request: OwnershipRequest, managers: Managers, first: ResourceRef): readonly Owned[] {
  const sets = new Map<ResourceRef['version'], { readonly ref: ResourceRef; readonly sets: FieldSet[] }>();
  sets.set(first.version, { ref: first, sets: [] });
  for (const manager of managers.values()) {
    const ref = versionOfManager(request, manager);
    if (ref === undefined) continue;
    const known = sets.get(ref.version) ?? { ref, sets: [] };
    known.sets.push(manager.set);
    sets.set(ref.version, known);
  }
  return [...sets.values()].map(({ ref, sets: own }) => ({ ref, owned: unionOfAll(own) }));
}
