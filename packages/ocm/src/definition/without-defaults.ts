import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { JsonObject, JsonValue } from '@berth/runtime/json/json-value';
import type { PlacementSpec } from '../kind/placement.ts';
import { PLACEMENT_KIND } from './placement-kind.ts';

const PLACEMENT_SPEC = PLACEMENT_KIND.versions[0]?.fields['spec!'] ?? {};

/**
 * A placement's spec without fields that equal their defaults. It is the same for the spec in Git
 * and for the stored one, independent of the defaults in the hub's CRD.
 */
export function withoutPlacementDefaults(spec: PlacementSpec): unknown {
  return withoutDefaults(PLACEMENT_SPEC, spec);
}

/** @param schema OpenAPI v3; fields that it does not have are kept */
function withoutDefaults(schema: JsonObject, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutDefaults(objectOf(schema['items']), item));
  if (typeof value !== 'object' || value === null) return value;
  const properties = objectOf(schema['properties']);
  const kept = Object.entries(value).flatMap(([name, one]) => {
    const field = objectOf(Object.hasOwn(properties, name) ? properties[name] : undefined);
    const isDefault = one === undefined || ('default' in field && jsonEqual(field['default'], one));
    return isDefault ? [] : [[name, withoutDefaults(field, one)] as const];
  });
  return Object.fromEntries(kept);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
