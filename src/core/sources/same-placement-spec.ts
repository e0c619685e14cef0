import { jsonEqual } from '../model/json-equal.ts';
import type { PlacementSpec } from '../model/kind/placement.ts';
import { withoutPlacementDefaults } from '../ocm/without-defaults.ts';

/** Do two specs say the same, whether or not a hub has filled in its defaults? */
export function samePlacementSpec(a: PlacementSpec | undefined, b: PlacementSpec | undefined): boolean {
  return jsonEqual(a, b) || jsonEqual(withoutPlacementDefaults(a ?? {}), withoutPlacementDefaults(b ?? {}));
}
