import { withoutPlacementDefaults } from '@berth/ocm/definition/ocm-crds';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { PlacementSpec } from '@berth/ocm/kind/placement';

/** Whether two specs are equal, ignoring defaults that a hub has filled in. */
export function samePlacementSpec(a: PlacementSpec | undefined, b: PlacementSpec | undefined): boolean {
  return jsonEqual(a, b) || jsonEqual(withoutPlacementDefaults(a ?? {}), withoutPlacementDefaults(b ?? {}));
}
