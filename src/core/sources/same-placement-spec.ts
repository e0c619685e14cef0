import { jsonEqual } from '../model/json-equal.ts';
import type { PlacementSpec } from '../model/kind/placement.ts';
import { withoutPlacementDefaults } from '../ocm/without-defaults.ts';

/** Whether two specs are equal, ignoring defaults that a hub has filled in. */
export function samePlacementSpec(a: PlacementSpec | undefined, b: PlacementSpec | undefined): boolean {
  return jsonEqual(a, b) || jsonEqual(withoutPlacementDefaults(a ?? {}), withoutPlacementDefaults(b ?? {}));
}
