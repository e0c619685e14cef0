import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';

/**
 * `namespace/placement` of the placement that a decision belongs to. Undefined if it belongs to
 * none. Then it counts only for Balance.
 */
export function decisionOwner({ metadata }: PlacementDecision): string | undefined {
  const labels = metadata.labels;
  if (labels === undefined || !Object.hasOwn(labels, PLACEMENT_LABEL)) return undefined;
  return `${metadata.namespace ?? ''}/${labels[PLACEMENT_LABEL]}`;
}
